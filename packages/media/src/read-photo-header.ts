import { type PhotoHeader, photoHeader } from './guarded-sharp.ts';
import type { SourceReader } from './source-reader.ts';
import type { UnsupportedReason } from './unsupported.ts';

const firstRead = 64 * 1024;
const mostBytes = 8 * 1024 * 1024;

/**
 * The header of a JPEG or PNG. EXIF, colour profiles, previews and texts may stand before its end: more is read, in
 * doubling steps up to 8 MiB, while it does not end.
 */
export async function readPhotoHeader(reader: SourceReader): Promise<PhotoHeader | UnsupportedReason> {
  let bytes = reader.known;
  for (let more = firstRead; ; more = bytes.length) {
    const header = await photoHeader(bytes);
    if (header) return header;
    if (bytes.length >= reader.size) return 'broken';
    if (bytes.length >= mostBytes) return 'too_costly';
    bytes = await reader.prefix(Math.min(bytes.length + more, mostBytes));
  }
}

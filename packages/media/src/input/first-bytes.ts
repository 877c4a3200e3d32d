import type { UnsupportedReason } from '../unsupported.ts';
import type { SourceReader } from './source-reader.ts';

const firstRead = 64 * 1024;
const mostBytes = 8 * 1024 * 1024;

/**
 * What `told` finds in the first bytes of media. EXIF, colour profiles, previews and texts may stand before it: more is
 * read, in doubling steps up to 8 MiB, while it finds nothing.
 */
export async function fromFirstBytes<T>(
  reader: SourceReader,
  told: (firstBytes: Buffer) => T | undefined | Promise<T | undefined>,
): Promise<T | UnsupportedReason> {
  let bytes = reader.known;
  for (let more = firstRead; ; more = bytes.length) {
    reader.signal.throwIfAborted();
    const found = await told(bytes);
    if (found !== undefined) return found;
    if (bytes.length >= reader.size) return 'broken';
    if (bytes.length >= mostBytes) return 'too_costly';
    bytes = await reader.prefix(Math.min(bytes.length + more, mostBytes));
  }
}

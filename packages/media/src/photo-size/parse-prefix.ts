import type { SourceReader } from '../input/source-reader.ts';
import type { UnsupportedReason } from '../outcomes.ts';

const firstReadBytes = 64 * 1024;
const maxPrefixBytes = 8 * 1024 * 1024;

/**
 * Parses the first bytes of media. While `parse` returns undefined it gets more of them, in doubling steps up to 8 MiB, as
 * EXIF, colour profiles, previews and texts may come first.
 */
export async function parsePrefix<T>(
  reader: SourceReader,
  parse: (prefix: Buffer) => T | undefined | Promise<T | undefined>,
): Promise<T | UnsupportedReason> {
  let bytes = reader.head;
  for (let more = firstReadBytes; ; more = bytes.length) {
    reader.signal.throwIfAborted();
    const parsed = await parse(bytes);
    if (parsed !== undefined) return parsed;
    if (bytes.length >= reader.size) return 'broken';
    if (bytes.length >= maxPrefixBytes) return 'too_costly';
    bytes = Buffer.concat([bytes, await reader.at(bytes.length, Math.min(more, maxPrefixBytes - bytes.length))]);
  }
}

import type { SourceReader } from './source-reader.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

/** The logical screen of a GIF (GIF89a section 18), upon which its frames are drawn: what browsers show. */
export async function gifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const screen = await reader.at(6, 4);
  return screen.length < 4 ? 'broken' : { width: screen.readUInt16LE(0), height: screen.readUInt16LE(2) };
}

import type { SourceReader } from '../input/source-reader.ts';

const headerBytes = 11;
export const trailerBytes = 4;
const sound = 8;
const video = 9;
const script = 18;
// Some H.264 tags hold parameters instead of pictures.
const h264 = 7;
const pictures = 1;

/**
 * The tags of Flash Video, at most `limit`, up to the first invalid one (Adobe's Video File Format Specification 10.1, annex E).
 * Each ends with the copy of its length that follows it.
 */
export async function* flvTags(reader: SourceReader, limit: number) {
  const header = await reader.at(0, 9);
  if (header.length < 9) return;
  let offset = header.readUInt32BE(5) + trailerBytes;
  for (let n = 0; n < limit && offset < reader.size; n++) {
    const tag = await reader.at(offset, headerBytes + 2);
    if (tag.length < headerBytes + 2) return;
    const type = tag.readUInt8(0);
    if (type !== sound && type !== video && type !== script) return;
    const frame = tag.readUInt8(headerBytes);
    const kind = tag.readUInt8(headerBytes + 1);
    const isPicture = type === video && ((frame & 0x0f) !== h264 || kind === pictures);
    const end = offset + headerBytes + tag.readUIntBE(1, 3) + trailerBytes;
    yield { offset, end, isKeyframe: isPicture && frame >> 4 === 1 };
    offset = end;
  }
}

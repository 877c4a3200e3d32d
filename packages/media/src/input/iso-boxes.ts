import type { SourceReader } from './source-reader.ts';

/**
 * A box of an ISO media file (ISO/IEC 14496-12 section 4.2): where it lies, where its content begins, and where it
 * ends.
 */
export interface IsoBox {
  readonly type: string;
  readonly offset: number;
  readonly content: number;
  readonly end: number;
}

/** Readers look at this many boxes of one level, and ignore the rest: a hostile file has millions. */
export const mostBoxes = 4096;

/** The most bytes of what says what a video holds: ten hours of video have some 20 MiB. */
export const mostMoov = 64 * 1024 * 1024;

// A size of 32 bits and a type, or the size in 64 bits after them.
const longestHeader = 16;

/** The outermost boxes, one after another, at most `limit`. The last one may say that it ends beyond the media. */
export async function* outerBoxes(reader: SourceReader, limit: number): AsyncGenerator<IsoBox> {
  let offset = 0;
  for (let n = 0; n < limit && offset < reader.size; n++) {
    const box = boxAt(await reader.at(offset, longestHeader), 0, reader.size - offset);
    if (!box) return;
    yield { type: box.type, offset, content: offset + box.content, end: offset + box.end };
    offset += box.end;
  }
}

/** The boxes that lie in `bytes` from `start` on, at most `mostBoxes`, with offsets into `bytes`. */
export function* innerBoxes(bytes: Buffer, start: number): Generator<IsoBox> {
  for (let offset = start, n = 0; offset < bytes.length && n < mostBoxes; n += 1) {
    const box = boxAt(bytes, offset, bytes.length);
    if (!box || box.end > bytes.length) return;
    yield box;
    offset = box.end;
  }
}

/** The contents of the boxes of one type that lie in `bytes` from `start` on. */
export function contentsOf(bytes: Buffer, type: string, start = 0): Buffer[] {
  return [...innerBoxes(bytes, start)]
    .filter((box) => box.type === type)
    .map(({ content, end }) => bytes.subarray(content, end));
}

function boxAt(bytes: Buffer, offset: number, endOfAll: number): IsoBox | undefined {
  if (offset + 8 > bytes.length) return undefined;
  const type = bytes.toString('latin1', offset + 4, offset + 8);
  const size = bytes.readUInt32BE(offset);
  if (size === 0) return { type, offset, content: offset + 8, end: endOfAll };
  if (size !== 1) return size < 8 ? undefined : { type, offset, content: offset + 8, end: offset + size };
  if (offset + 16 > bytes.length) return undefined;
  const long = Number(bytes.readBigUInt64BE(offset + 8));
  return long < 16 ? undefined : { type, offset, content: offset + 16, end: offset + long };
}

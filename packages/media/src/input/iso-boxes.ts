import type { SourceReader } from './source-reader.ts';

/** A box of an ISO media file (ISO/IEC 14496-12 section 4.2), as offsets of its header, its content and its end. */
export interface IsoBox {
  readonly type: string;
  readonly offset: number;
  readonly content: number;
  readonly end: number;
}

/** Readers ignore further boxes of one level: a hostile file has millions. */
export const maxBoxes = 4096;

/** The largest `moov` that is read; ten hours of video take some 20 MiB. */
export const maxMoovBytes = 64 * 1024 * 1024;

// A size of 32 bits, a type, and possibly a size of 64 bits.
const maxHeaderBytes = 16;

/** The top-level boxes, at most `limit`. The last may claim to end beyond the media. */
export function topLevelBoxes(reader: SourceReader, limit: number): AsyncGenerator<IsoBox> {
  return readBoxes(reader, { content: 0, end: reader.size }, { left: limit });
}

/** The boxes within another, as long as `headers` are left; reads only these. The last may claim to end beyond the other. */
export async function* readBoxes(
  reader: SourceReader,
  within: Pick<IsoBox, 'content' | 'end'>,
  headers: { left: number },
): AsyncGenerator<IsoBox> {
  for (let offset = within.content; offset < within.end && headers.left > 0; headers.left -= 1) {
    const box = parseBox(await reader.at(offset, maxHeaderBytes), 0, within.end - offset);
    if (!box) return;
    const end = offset + box.end;
    yield { type: box.type, offset, content: offset + box.content, end };
    offset = end;
  }
}

/** The boxes in `bytes` from `start`, at most `maxBoxes`, with offsets into `bytes`. */
export function* childBoxes(bytes: Buffer, start: number): Generator<IsoBox> {
  for (let offset = start, n = 0; offset < bytes.length && n < maxBoxes; n += 1) {
    const box = parseBox(bytes, offset, bytes.length);
    if (!box || box.end > bytes.length) return;
    yield box;
    offset = box.end;
  }
}

/** The contents of the boxes of a type in `bytes` from `start`. */
export function boxContents(bytes: Buffer, type: string, start = 0): Buffer[] {
  return [...childBoxes(bytes, start)]
    .filter((box) => box.type === type)
    .map(({ content, end }) => bytes.subarray(content, end));
}

/** The content of the first box at each step of a path of box types. */
export function contentAt(bytes: Buffer, ...path: readonly string[]): Buffer | undefined {
  let content: Buffer | undefined = bytes;
  for (const type of path) content = content && boxContents(content, type)[0];
  return content;
}

/** The kind of a track, such as `vide` or `pict`, from the content of its `trak` box. */
export function handlerType(trak: Buffer): string | undefined {
  return contentAt(trak, 'mdia', 'hdlr')?.toString('latin1', 8, 12);
}

/** The `moov` box; undefined if there is none, or it is larger than 64 MiB. */
export async function findMoov(reader: SourceReader): Promise<IsoBox | undefined> {
  for await (const box of topLevelBoxes(reader, maxBoxes)) {
    if (box.type === 'moov' && box.end - box.content <= maxMoovBytes) return box;
  }
  return undefined;
}

/** The content of the `moov` box; undefined if there is none, or it is larger than 64 MiB. */
export async function readMoov(reader: SourceReader): Promise<Buffer | undefined> {
  const moov = await findMoov(reader);
  return moov && reader.at(moov.content, moov.end - moov.content);
}

/** The number of entries of a full box that begins with it (ISO/IEC 14496-12 section 4.2.2), at most as many as fit. */
export function entryCount(table: Buffer, entryBytes: number): number {
  return table.length < 8 ? 0 : Math.min(table.readUInt32BE(4), Math.floor((table.length - 8) / entryBytes));
}

function parseBox(bytes: Buffer, offset: number, parentEnd: number): IsoBox | undefined {
  if (offset + 8 > bytes.length) return undefined;
  const type = bytes.toString('latin1', offset + 4, offset + 8);
  const size = bytes.readUInt32BE(offset);
  if (size === 0) return { type, offset, content: offset + 8, end: parentEnd };
  if (size !== 1) return size < 8 ? undefined : { type, offset, content: offset + 8, end: offset + size };
  if (offset + 16 > bytes.length) return undefined;
  const long = Number(bytes.readBigUInt64BE(offset + 8));
  return long < 16 ? undefined : { type, offset, content: offset + 16, end: offset + long };
}

import { type IsoBox, innerBoxes, outerBoxes } from './iso-boxes.ts';
import type { SourceReader } from './source-reader.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

const mostBoxes = 16;
const mostMeta = 1024 * 1024;
// Boxes with a version and flags carry four bytes more before their content.
const fullBox = 4;

/**
 * The displayed size of the primary picture of a HEIC or AVIF (ISO/IEC 23008-12): its extent, then cropping (clap) and
 * rotation (irot). EXIF orientation is not asked: viewers and libheif apply irot alone, and phones write both.
 */
export async function heifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  for await (const box of outerBoxes(reader, mostBoxes)) {
    if (box.end > reader.size) return 'broken';
    if (box.type !== 'meta') continue;
    if (box.end - box.content > mostMeta) return 'too_costly';
    return primarySize(await reader.at(box.content, box.end - box.content)) ?? 'broken';
  }
  return 'broken';
}

function primarySize(meta: Buffer): Size | undefined {
  const primary = child(meta, fullBox, 'pitm');
  const properties = child(meta, fullBox, 'iprp');
  if (!primary || !properties) return undefined;
  const container = child(properties, 0, 'ipco');
  const associations = child(properties, 0, 'ipma');
  if (!container || !associations) return undefined;
  const boxes = [...innerBoxes(container, 0)];
  const indexes = propertyIndexes(associations, primaryItem(primary));
  return indexes
    .flatMap((index) => boxes[index - 1] ?? [])
    .reduce<Size | undefined>((size, box) => withProperty(size, box, container), undefined);
}

function withProperty(size: Size | undefined, box: IsoBox, container: Buffer): Size | undefined {
  const content = container.subarray(box.content, box.end);
  if (box.type === 'ispe' && content.length >= 12)
    return { width: content.readUInt32BE(4), height: content.readUInt32BE(8) };
  if (!size) return undefined;
  if (box.type === 'clap' && content.length >= 16) {
    const [widthN, widthD, heightN, heightD] = [0, 4, 8, 12].map((at) => content.readUInt32BE(at));
    return { width: rounded(widthN, widthD), height: rounded(heightN, heightD) };
  }
  const quarterTurns = box.type === 'irot' ? (content[0] ?? 0) & 3 : 0;
  return quarterTurns % 2 === 1 ? { width: size.height, height: size.width } : size;
}

function rounded(numerator = 0, denominator = 0): number {
  return denominator === 0 ? 0 : Math.round(numerator / denominator);
}

function primaryItem(pitm: Buffer): number {
  return pitm[0] === 0 ? readUInt(pitm, fullBox, 2) : readUInt(pitm, fullBox, 4);
}

// ipma: for each item its id and a list of indexes into ipco, counted from 1; the highest bit of each says
// "essential".
function propertyIndexes(ipma: Buffer, item: number): number[] {
  const idBytes = ipma[0] === 0 ? 2 : 4;
  const indexBytes = ((ipma[3] ?? 0) & 1) === 1 ? 2 : 1;
  const indexMask = indexBytes === 2 ? 0x7fff : 0x7f;
  for (let at = fullBox + 4; at + idBytes < ipma.length; ) {
    const count = readUInt(ipma, at + idBytes, 1);
    const first = at + idBytes + 1;
    if (readUInt(ipma, at, idBytes) === item) {
      return Array.from({ length: count }, (_, n) => readUInt(ipma, first + n * indexBytes, indexBytes) & indexMask);
    }
    at = first + count * indexBytes;
  }
  return [];
}

function child(parent: Buffer, start: number, type: string): Buffer | undefined {
  for (const box of innerBoxes(parent, start)) if (box.type === type) return parent.subarray(box.content, box.end);
  return undefined;
}

function readUInt(bytes: Buffer, at: number, length: number): number {
  return at + length <= bytes.length ? bytes.readUIntBE(at, length) : 0;
}

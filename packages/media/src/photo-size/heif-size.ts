import { boxContents, handlerType, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, parseExifOrientation } from '../input/tiff-directory.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { HeifItems, type ItemLocation, type ItemProperty } from './heif-items.ts';

const maxBoxes = 16;
const maxDirectoryBytes = 1024 * 1024;
const maxExifBytes = 64 * 1024;
// PQ and HLG.
const hdrTransfers = new Set([16, 18]);

/** The displayed size of an AVIF: of its primary picture or, for a sequence without one, of its track. */
export async function avifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const displayed = await readHeif(reader);
  return typeof displayed === 'string' ? displayed : displayed.size;
}

/** The displayed size of a HEIC. */
export async function heicSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const displayed = await readHeif(reader);
  return typeof displayed === 'string'
    ? displayed
    : orientSize(displayed.size, await readExifOrientation(displayed, reader));
}

/** The EXIF orientation of a HEIC, unless the picture has its own transformation: phones write both but intend one. */
export async function heicExifOrientation(reader: SourceReader): Promise<number | undefined> {
  const displayed = await readHeif(reader);
  return typeof displayed === 'string' ? undefined : readExifOrientation(displayed, reader);
}

/** What a HEIF displays, with its own transformations applied to its size. */
interface Displayed {
  /** Whether it is a track, as there is no primary picture. */
  readonly isTrack: boolean;
  /**
   * Whether it has a high dynamic range (PQ or HLG, by its `nclx`: ITU-T H.273), and no tiles, crop, rotation or colour
   * profile.
   */
  readonly isPlainHdr: boolean;
  readonly size: Size;
  /** The location of its EXIF, unless it is rotated or mirrored. */
  readonly exif?: ItemLocation | undefined;
}

/** Reads what a HEIF displays. */
export async function readHeif(reader: SourceReader): Promise<Displayed | UnsupportedReason> {
  for await (const box of topLevelBoxes(reader, maxBoxes)) {
    if (box.end > reader.size) return 'broken';
    if (box.type !== 'meta' && box.type !== 'moov') continue;
    if (box.end - box.content > maxDirectoryBytes) return 'too_costly';
    const directory = await reader.at(box.content, box.end - box.content);
    const displayed = box.type === 'meta' ? primaryPicture(directory) : pictureTrack(directory);
    if (displayed) return displayed;
  }
  return 'broken';
}

function pictureTrack(moov: Buffer): Displayed | undefined {
  const size = trackSize(moov, 'pict');
  return size && { isTrack: true, isPlainHdr: false, size };
}

function primaryPicture(meta: Buffer): Displayed | undefined {
  const items = new HeifItems(meta);
  const { primary } = items;
  if (primary === undefined) return undefined;
  const properties = items.propertiesOf(primary);
  const extent = properties.find(({ type, content }) => type === 'ispe' && content.length >= 12)?.content;
  if (!extent) return undefined;
  const size = properties.reduce(applyTransformation, {
    width: extent.readUInt32BE(4),
    height: extent.readUInt32BE(8),
  });
  const isTransformed = properties.some(({ type }) => type === 'irot' || type === 'imir');
  const exif = isTransformed ? undefined : items.exifOf(primary);
  const isCoded = properties.some(({ type }) => type === 'av1C' || type === 'hvcC');
  const isPlain = isCoded && properties.every(({ type }) => !['clap', 'irot', 'imir'].includes(type));
  return { isTrack: false, isPlainHdr: isPlain && hasHdrColours(properties), size, exif };
}

// ISO/IEC 14496-12 section 12.1.5: colours as numbers (primaries, transfer, matrix), or as a profile, which takes precedence.
function hasHdrColours(properties: readonly ItemProperty[]): boolean {
  const colours = properties.filter(({ type, content }) => type === 'colr' && content.length >= 10);
  const isNumbered = ({ content }: ItemProperty) => content.toString('latin1', 0, 4) === 'nclx';
  return (
    colours.length > 0 && colours.every((each) => isNumbered(each) && hdrTransfers.has(each.content.readUInt16BE(6)))
  );
}

// ISO/IEC 23008-12 section 6.5: crops and quarter turns. Mirroring does not change the size.
function applyTransformation(size: Size, { type, content }: ItemProperty): Size {
  if (type === 'clap' && content.length >= 16) {
    const [widthN, widthD, heightN, heightD] = [0, 4, 8, 12].map((at) => content.readUInt32BE(at));
    return { width: roundQuotient(widthN, widthD), height: roundQuotient(heightN, heightD) };
  }
  const quarterTurns = type === 'irot' ? (content[0] ?? 0) & 3 : 0;
  return quarterTurns % 2 === 1 ? { width: size.height, height: size.width } : size;
}

function roundQuotient(numerator = 0, denominator = 0): number {
  return denominator === 0 ? 0 : Math.round(numerator / denominator);
}

async function readExifOrientation({ exif }: Displayed, reader: SourceReader): Promise<number | undefined> {
  if (!exif) return undefined;
  const { data, offset, length } = exif;
  const end = Math.min(length, maxExifBytes);
  const bytes = data ? data.subarray(offset, offset + end) : await reader.at(offset, end);
  // The first four bytes are the length of what precedes the EXIF.
  return bytes.length < 4 ? undefined : parseExifOrientation(bytes.subarray(4 + bytes.readUInt32BE(0)));
}

// A track header ends with a matrix of nine numbers and the size, in fixed point (ISO/IEC 14496-12 section 8.3).
const fromEnd = { matrix: 44, width: 8, height: 4 };

/** The displayed size of the first track with this handler in the content of a `moov` box. */
export function trackSize(moov: Buffer, handler: string): Size | undefined {
  const track = boxContents(moov, 'trak').find((trak) => handlerType(trak) === handler);
  const header = track && boxContents(track, 'tkhd')[0];
  if (!header || header.length < fromEnd.matrix) return undefined;
  const size = {
    width: header.readUInt16BE(header.length - fromEnd.width),
    height: header.readUInt16BE(header.length - fromEnd.height),
  };
  const [straight = 0, across = 0] = [0, 4].map((at) =>
    Math.abs(header.readInt32BE(header.length - fromEnd.matrix + at)),
  );
  return across > straight ? { width: size.height, height: size.width } : size;
}

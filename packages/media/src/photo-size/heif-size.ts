import type { ColourCodes } from '../colour-codes.ts';
import { boxContents, handlerType, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, parseExifOrientation } from '../input/tiff-directory.ts';
import type { ReadSize, UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { type ItemLocation, type ItemProperty, readItems } from './heif-items.ts';
import { findObstacle, type HeifType } from './heif-obstacle.ts';
import { displayedSize } from './heif-transformations.ts';

const maxBoxes = 16;
const maxDirectoryBytes = 1024 * 1024;
const maxExifBytes = 64 * 1024;

/** The displayed size of a HEIF: of its primary picture or, for a sequence without one, of its track. */
export async function heifSize(reader: SourceReader, type: HeifType): Promise<ReadSize | UnsupportedReason> {
  const displayed = await readHeif(reader, type);
  return typeof displayed === 'string' ? displayed : { ...displayed.size, obstacle: displayed.obstacle };
}

/** What a HEIF displays. */
export interface DisplayedHeif {
  /** Whether it is a track, as there is no primary picture. */
  readonly isTrack: boolean;
  /** The size with its transformations and orientation. */
  readonly size: Size;
  /** Why no decoder here shows it. */
  readonly obstacle?: UnsupportedReason | undefined;
  /** The orientation of a HEIC in its EXIF, from 1 to 8, unless it is rotated or mirrored: phones write both but intend one. */
  readonly orientation?: number | undefined;
  /** An ICC profile. */
  readonly profile?: Buffer | undefined;
  /** Its colours, unless it has a profile. */
  readonly codes?: ColourCodes | undefined;
  /** Whether its colours are multiplied by its alpha. */
  readonly isPremultiplied: boolean;
}

/** Reads what a HEIF displays. */
export async function readHeif(reader: SourceReader, type: HeifType): Promise<DisplayedHeif | UnsupportedReason> {
  for await (const box of topLevelBoxes(reader, maxBoxes)) {
    if (box.end > reader.size) return 'broken';
    if (box.type !== 'meta' && box.type !== 'moov') continue;
    if (box.end - box.content > maxDirectoryBytes) return 'too_costly';
    const directory = await reader.at(box.content, box.end - box.content);
    const displayed = box.type === 'meta' ? await primaryPicture(directory, type, reader) : pictureTrack(directory);
    if (displayed) return displayed;
  }
  return 'broken';
}

function pictureTrack(moov: Buffer): DisplayedHeif | undefined {
  const size = trackSize(moov, 'pict');
  // An auxiliary track may be its alpha, which nothing here applies: the colours of what a person erased would show.
  const hasAuxiliary = boxContents(moov, 'trak').some((trak) => handlerType(trak) === 'auxv');
  return size && { isTrack: true, size, isPremultiplied: false, ...(hasAuxiliary && { obstacle: 'codec' as const }) };
}

async function primaryPicture(meta: Buffer, type: HeifType, reader: SourceReader): Promise<DisplayedHeif | undefined> {
  const items = readItems(meta);
  const { primary } = items;
  if (primary === undefined) return undefined;
  const properties = items.propertiesOf(primary);
  const size = displayedSize(properties);
  if (!size) return undefined;
  const isTransformed = properties.some(({ type }) => type === 'irot' || type === 'imir');
  const exif = type === 'heic' && !isTransformed ? items.exifOf(primary) : undefined;
  const orientation = exif && (await readExifOrientation(exif, reader));
  const [tile] = items.referencesFrom(primary, 'dimg');
  const ownColours = readColours(properties);
  return {
    isTrack: false,
    size: orientSize(size, orientation),
    obstacle: findObstacle(items, primary, type, reader.size),
    orientation,
    isPremultiplied: items.referencesFrom(primary, 'prem').length > 0,
    ...(ownColours ?? (tile === undefined ? {} : readColours(items.propertiesOf(tile)))),
  };
}

// ISO/IEC 14496-12 section 12.1.5. A profile takes precedence over numbers.
function readColours(properties: readonly ItemProperty[]): Pick<DisplayedHeif, 'profile' | 'codes'> | undefined {
  const colours = properties.filter(({ type, content }) => type === 'colr' && content.length >= 10);
  const kindOf = ({ content }: ItemProperty) => content.toString('latin1', 0, 4);
  const profile = colours.find((each) => ['prof', 'rICC'].includes(kindOf(each)))?.content.subarray(4);
  const numbers = colours.find((each) => kindOf(each) === 'nclx')?.content;
  if (profile) return { profile };
  return numbers && { codes: { primaries: numbers.readUInt16BE(4), transfer: numbers.readUInt16BE(6) } };
}

async function readExifOrientation(
  { data, offset, length }: ItemLocation,
  reader: SourceReader,
): Promise<number | undefined> {
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

import type { ColourCodes } from '../colour-codes.ts';
import { boxContents, handlerType, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { orientSize, parseExifOrientation } from '../input/tiff-directory.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { Size } from '../size.ts';
import { HeifItems, type ItemLocation, type ItemProperty } from './heif-items.ts';

const maxBoxes = 16;
const maxDirectoryBytes = 1024 * 1024;
const maxExifBytes = 64 * 1024;

type HeifType = 'avif' | 'heic';
/** The items that the decoder of each type reads: coded pictures, and those that are derived from others. */
const codedTypes: Readonly<Record<HeifType, readonly string[]>> = { avif: ['av01'], heic: ['hvc1', 'av01'] };
const derivedTypes = ['grid', 'iovl', 'iden'];
// A tile of a picture is rarely derived itself.
const maxLevels = 4;
/** The setup of the decoder of each type. */
const setupTypes: Readonly<Record<string, string>> = { hvc1: 'hvcC', av01: 'av1C' };
const knownProperties = [
  ...['hvcC', 'av1C', 'a1op', 'a1lx', 'lsel', 'ispe', 'pixi', 'pasp', 'auxC', 'rloc'],
  ...['colr', 'clli', 'mdcv', 'cclv', 'amve', 'clap', 'irot', 'imir'],
];

/** The displayed size of an AVIF: of its primary picture or, for a sequence without one, of its track. */
export async function avifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const displayed = await readHeif(reader, 'avif');
  return typeof displayed === 'string' ? displayed : displayed.size;
}

/** The displayed size of a HEIC. */
export async function heicSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const displayed = await readHeif(reader, 'heic');
  return typeof displayed === 'string'
    ? displayed
    : orientSize(displayed.size, await readExifOrientation(displayed, reader));
}

/** What a HEIF displays, with its own transformations applied to its size. */
export interface DisplayedHeif {
  /** Whether it is a track, as there is no primary picture. */
  readonly isTrack: boolean;
  readonly size: Size;
  /** The location of its EXIF, unless it is rotated or mirrored: phones write both but intend one. */
  readonly exif?: ItemLocation | undefined;
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
    const displayed = box.type === 'meta' ? primaryPicture(directory, type, reader.size) : pictureTrack(directory);
    if (displayed) return displayed;
  }
  return 'broken';
}

function pictureTrack(moov: Buffer): DisplayedHeif | undefined {
  const size = trackSize(moov, 'pict');
  return size && { isTrack: true, size, isPremultiplied: false };
}

function primaryPicture(meta: Buffer, type: HeifType, fileSize: number): DisplayedHeif | UnsupportedReason | undefined {
  const items = new HeifItems(meta);
  const { primary } = items;
  if (primary === undefined) return undefined;
  const properties = items.propertiesOf(primary);
  const size = displayedSize(properties);
  if (!size) return undefined;
  if (!areCropsInside(properties)) return 'broken';
  const why = findObstacle(items, primary, type, fileSize);
  if (why) return why;
  const isTransformed = properties.some(({ type }) => type === 'irot' || type === 'imir');
  const [tile] = items.referencesFrom(primary, 'dimg');
  const ownColours = readColours(properties);
  return {
    isTrack: false,
    size,
    exif: isTransformed ? undefined : items.exifOf(primary),
    isPremultiplied: items.referencesFrom(primary, 'prem').length > 0,
    ...(ownColours ?? (tile === undefined ? {} : readColours(items.propertiesOf(tile)))),
  };
}

function displayedSize(properties: readonly ItemProperty[]): Size | undefined {
  const coded = codedSize(properties);
  return coded && properties.reduce(applyTransformation, coded);
}

function codedSize(properties: readonly ItemProperty[]): Size | undefined {
  const extent = properties.find(({ type, content }) => type === 'ispe' && content.length >= 12)?.content;
  return extent && { width: extent.readUInt32BE(4), height: extent.readUInt32BE(8) };
}

/** Why the decoder would refuse a picture: what is accepted must be shown. */
function findObstacle(
  items: HeifItems,
  primary: number,
  type: HeifType,
  fileSize: number,
): UnsupportedReason | undefined {
  if (items.hasDoubleReferences) return 'codec';
  let level = [primary];
  for (let n = 0; n < maxLevels && level.length > 0; n += 1) {
    const kinds = level.map((item) => items.typeOf(item) ?? '');
    if (kinds.some((kind) => !codedTypes[type].includes(kind) && !derivedTypes.includes(kind))) return 'codec';
    const properties = level.flatMap((item) => items.propertiesOf(item));
    if (properties.some((each) => each.isEssential && !knownProperties.includes(each.type))) return 'codec';
    const isCut = level.some((item) => (items.endOf(item) ?? 0) > fileSize);
    if (isCut || level.some((item) => !canBeDecoded(items, item))) return 'broken';
    level = [...new Set(level.flatMap((item) => items.referencesFrom(item, 'dimg')))];
  }
  return level.length > 0 ? 'too_costly' : undefined;
}

function canBeDecoded(items: HeifItems, item: number): boolean {
  const kind = items.typeOf(item) ?? '';
  if (kind === 'iden') return isSizeOfSource(items, item);
  if (kind === 'grid') return isGridComplete(items, item);
  const setup = setupTypes[kind];
  return setup === undefined || items.propertiesOf(item).some(({ type }) => type === setup);
}

// ISO/IEC 23008-12 section 6.6.2.3: rows and columns less one, after the version and flags. Tiles have one size, and cover the picture.
function isGridComplete(items: HeifItems, item: number): boolean {
  const data = items.dataOf(item);
  const tiles = items.referencesFrom(item, 'dimg');
  if (!data) return true;
  if (data.length < 8) return false;
  const [rows, columns, isLong] = [data.readUInt8(2) + 1, data.readUInt8(3) + 1, (data.readUInt8(1) & 1) === 1];
  if (rows * columns !== tiles.length || (isLong && data.length < 12)) return false;
  const [width, height] = isLong
    ? [data.readUInt32BE(4), data.readUInt32BE(8)]
    : [data.readUInt16BE(4), data.readUInt16BE(6)];
  const tile = displayedSize(items.propertiesOf(tiles[0] ?? 0));
  const declared = codedSize(items.propertiesOf(item));
  if (declared && (declared.width !== width || declared.height !== height)) return false;
  return tile === undefined || (tile.width * columns >= width && tile.height * rows >= height);
}

// An identity (`iden`) shows another item, whose displayed size it must declare.
function isSizeOfSource(items: HeifItems, item: number): boolean {
  const [source] = items.referencesFrom(item, 'dimg');
  if (source === undefined) return true;
  const shown = displayedSize(items.propertiesOf(source));
  const declared = displayedSize(items.propertiesOf(item).filter(({ type }) => type === 'ispe'));
  return shown?.width === declared?.width && shown?.height === declared?.height;
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

// ISO/IEC 23008-12 section 6.5: crops and quarter turns. Mirroring does not change the size.
function applyTransformation(size: Size, { type, content }: ItemProperty): Size {
  if (type === 'clap' && content.length >= 16) {
    const [widthN, widthD, heightN, heightD] = [0, 4, 8, 12].map((at) => content.readUInt32BE(at));
    return { width: roundQuotient(widthN, widthD), height: roundQuotient(heightN, heightD) };
  }
  const quarterTurns = type === 'irot' ? (content[0] ?? 0) & 3 : 0;
  return quarterTurns % 2 === 1 ? { width: size.height, height: size.width } : size;
}

/** Whether each crop is inside the picture as it is when the crop applies. */
function areCropsInside(properties: readonly ItemProperty[]): boolean {
  let canvas = codedSize(properties);
  for (const property of properties) {
    if (property.type === 'clap' && !(canvas && isCropInside(property.content, canvas))) return false;
    canvas = canvas && applyTransformation(canvas, property);
  }
  return true;
}

// ISO/IEC 14496-12 section 12.1.4: fractions of the width, the height, and the distances between the centres.
function isCropInside(clap: Buffer, { width, height }: Size): boolean {
  if (clap.length < 32) return false;
  const [w, h, x, y] = [0, 8, 16, 24].map((at) => clap.readInt32BE(at) / clap.readInt32BE(at + 4)) as [
    number,
    number,
    number,
    number,
  ];
  const isPositive = [4, 12, 20, 28].every((at) => clap.readInt32BE(at) > 0);
  return isPositive && isCentredInside(w, width, x) && isCentredInside(h, height, y);
}

// Decoders round fractions.
function isCentredInside(length: number, of: number, offset: number): boolean {
  const rounding = Number.isInteger(length) && Number.isInteger(2 * offset) ? 0 : 1;
  return length >= 1 && Math.abs(offset) <= (of - length) / 2 + rounding;
}

function roundQuotient(numerator = 0, denominator = 0): number {
  return denominator === 0 ? 0 : Math.round(numerator / denominator);
}

/** The orientation in its EXIF: 1 to 8. */
export async function readExifOrientation({ exif }: DisplayedHeif, reader: SourceReader): Promise<number | undefined> {
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

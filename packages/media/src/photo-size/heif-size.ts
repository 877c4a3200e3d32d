import { outerBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import { HeifItems, type ItemPlace, type ItemProperty } from './heif-items.ts';
import { exifOrientation, oriented } from './orientation.ts';
import { trackSize } from './track-size.ts';

const mostBoxes = 16;
const mostDirectory = 1024 * 1024;
const mostExif = 64 * 1024;
// PQ and HLG.
const hdrTransfers = new Set([16, 18]);

/** The displayed size of an AVIF: of its primary picture, or of its track where it is a sequence without one. */
export async function avifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const shown = await shownPicture(reader);
  return typeof shown === 'string' ? shown : shown.size;
}

/** The displayed size of a HEIC. */
export async function heicSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  const shown = await shownPicture(reader);
  return typeof shown === 'string' ? shown : oriented(shown.size, await exifOrientationOf(shown, reader));
}

/**
 * The EXIF orientation of a HEIC where it counts: where the picture has no transformation of its own. Phones write both,
 * and mean one.
 */
export async function heicExifOrientation(reader: SourceReader): Promise<number | undefined> {
  const shown = await shownPicture(reader);
  return typeof shown === 'string' ? undefined : exifOrientationOf(shown, reader);
}

/** Whether what is displayed is a track, as of a video: the directory names no primary picture. */
export async function isPictureTrack(reader: SourceReader): Promise<boolean> {
  const shown = await shownPicture(reader);
  return typeof shown !== 'string' && shown.isTrack;
}

/**
 * Whether what is displayed is a picture of high dynamic range (PQ or HLG, by its `nclx`: ITU-T H.273) that is not
 * made of tiles, neither cropped nor turned, and has no colour profile.
 */
export async function isPlainHdr(reader: SourceReader): Promise<boolean> {
  const shown = await shownPicture(reader);
  return typeof shown !== 'string' && shown.isPlainHdr;
}

/** What is displayed: its own transformations are applied to its size. */
interface ShownPicture {
  readonly isTrack: boolean;
  readonly isPlainHdr: boolean;
  readonly size: Size;
  /** Where it is neither turned nor mirrored: what EXIF says of it, in the file or in the directory itself. */
  readonly exif?: { readonly place: ItemPlace; readonly directory: Buffer } | undefined;
}

async function shownPicture(reader: SourceReader): Promise<ShownPicture | UnsupportedReason> {
  for await (const box of outerBoxes(reader, mostBoxes)) {
    if (box.end > reader.size) return 'broken';
    if (box.type !== 'meta' && box.type !== 'moov') continue;
    if (box.end - box.content > mostDirectory) return 'too_costly';
    const directory = await reader.at(box.content, box.end - box.content);
    const shown = box.type === 'meta' ? primaryPicture(directory) : pictureTrack(directory);
    if (shown) return shown;
  }
  return 'broken';
}

function pictureTrack(moov: Buffer): ShownPicture | undefined {
  const size = trackSize(moov, 'pict');
  return size && { isTrack: true, isPlainHdr: false, size };
}

// A picture of many tiles has its own extent, as each tile has.
function primaryPicture(meta: Buffer): ShownPicture | undefined {
  const items = new HeifItems(meta);
  const { primary } = items;
  if (primary === undefined) return undefined;
  const properties = items.propertiesOf(primary);
  const extent = properties.find(({ type, content }) => type === 'ispe' && content.length >= 12)?.content;
  if (!extent) return undefined;
  const size = properties.reduce(transformed, { width: extent.readUInt32BE(4), height: extent.readUInt32BE(8) });
  const isTransformed = properties.some(({ type }) => type === 'irot' || type === 'imir');
  const place = isTransformed ? undefined : items.exifOf(primary);
  const exif = place && { place, directory: items.data };
  const isCoded = properties.some(({ type }) => type === 'av1C' || type === 'hvcC');
  const isPlain = isCoded && properties.every(({ type }) => !['clap', 'irot', 'imir'].includes(type));
  return { isTrack: false, isPlainHdr: isPlain && hasHdrColours(properties), size, exif };
}

// ISO/IEC 14496-12 section 12.1.5: colours by numbers (primaries, transfer, matrix), or as a profile, which counts more.
function hasHdrColours(properties: readonly ItemProperty[]): boolean {
  const colours = properties.filter(({ type, content }) => type === 'colr' && content.length >= 10);
  const isNumbered = ({ content }: ItemProperty) => content.toString('latin1', 0, 4) === 'nclx';
  return (
    colours.length > 0 && colours.every((each) => isNumbered(each) && hdrTransfers.has(each.content.readUInt16BE(6)))
  );
}

// ISO/IEC 23008-12 section 6.5: cropping, and turns by quarters; a mirror changes no size.
function transformed(size: Size, { type, content }: ItemProperty): Size {
  if (type === 'clap' && content.length >= 16) {
    const [widthN, widthD, heightN, heightD] = [0, 4, 8, 12].map((at) => content.readUInt32BE(at));
    return { width: rounded(widthN, widthD), height: rounded(heightN, heightD) };
  }
  const quarterTurns = type === 'irot' ? (content[0] ?? 0) & 3 : 0;
  return quarterTurns % 2 === 1 ? { width: size.height, height: size.width } : size;
}

function rounded(numerator = 0, denominator = 0): number {
  return denominator === 0 ? 0 : Math.round(numerator / denominator);
}

async function exifOrientationOf({ exif }: ShownPicture, reader: SourceReader): Promise<number | undefined> {
  if (!exif) return undefined;
  const { place, directory } = exif;
  const length = Math.min(place.length, mostExif);
  const data =
    place.within === 'file'
      ? await reader.at(place.offset, length)
      : directory.subarray(place.offset, place.offset + length);
  // Its first four bytes say how many more stand before the EXIF itself.
  return data.length < 4 ? undefined : exifOrientation(data.subarray(4 + data.readUInt32BE(0)));
}

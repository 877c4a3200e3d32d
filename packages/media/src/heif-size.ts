import { HeifItems, type ItemProperty } from './heif-items.ts';
import { outerBoxes } from './iso-boxes.ts';
import { exifOrientation, oriented } from './orientation.ts';
import type { SourceReader } from './source-reader.ts';
import { trackSize } from './track-size.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

const mostBoxes = 16;
const mostDirectory = 1024 * 1024;
const mostExif = 64 * 1024;

/** The displayed size of an AVIF: of its primary picture, or of its track where it is a sequence without one. */
export function avifSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  return heifSize(reader, (_, upright) => upright);
}

/**
 * The displayed size of a HEIC. EXIF orientation counts where the picture has no transformation of its own: phones
 * write both, and mean one.
 */
export function heicSize(reader: SourceReader): Promise<Size | UnsupportedReason> {
  return heifSize(reader, orientedByExif);
}

/** Gets a picture that is neither turned nor mirrored, and its size. */
type Upright = (
  picture: { reader: SourceReader; items: HeifItems; primary: number },
  size: Size,
) => Promise<Size> | Size;

async function heifSize(reader: SourceReader, upright: Upright): Promise<Size | UnsupportedReason> {
  for await (const box of outerBoxes(reader, mostBoxes)) {
    if (box.end > reader.size) return 'broken';
    if (box.type !== 'meta' && box.type !== 'moov') continue;
    if (box.end - box.content > mostDirectory) return 'too_costly';
    const directory = await reader.at(box.content, box.end - box.content);
    const size = box.type === 'meta' ? await primarySize(reader, directory, upright) : trackSize(directory, 'pict');
    if (size) return size;
  }
  return 'broken';
}

// A picture of many tiles has its own extent, as each tile has.
async function primarySize(reader: SourceReader, meta: Buffer, upright: Upright): Promise<Size | undefined> {
  const items = new HeifItems(meta);
  const { primary } = items;
  if (primary === undefined) return undefined;
  const properties = items.propertiesOf(primary);
  const extent = properties.find(({ type, content }) => type === 'ispe' && content.length >= 12)?.content;
  if (!extent) return undefined;
  const size = properties.reduce(transformed, { width: extent.readUInt32BE(4), height: extent.readUInt32BE(8) });
  const isTransformed = properties.some(({ type }) => type === 'irot' || type === 'imir');
  return isTransformed ? size : upright({ reader, items, primary }, size);
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

const orientedByExif: Upright = async ({ reader, items, primary }, size) => {
  const place = items.exifOf(primary);
  if (!place) return size;
  const length = Math.min(place.length, mostExif);
  const data =
    place.within === 'file'
      ? await reader.at(place.offset, length)
      : items.data.subarray(place.offset, place.offset + length);
  // Its first four bytes say how many more stand before the EXIF itself.
  if (data.length < 4) return size;
  return oriented(size, await exifOrientation(data.subarray(4 + data.readUInt32BE(0))));
};

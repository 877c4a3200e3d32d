import { exif } from './sample-exif.ts';
import { ftyp, isoBox, u32 } from './sample-iso.ts';
import { made } from './sample-media.ts';

export interface HeifSample {
  readonly coding: 'hevc' | 'av1';
  readonly brands: readonly [string, ...string[]];
  /** The coded size in pixels. */
  readonly width: number;
  readonly height: number;
  /** Number of tiles; the last ones exceed the picture. */
  readonly tiles?: { readonly columns: number; readonly rows: number };
  /** Crops to the centre, or at an offset from it; then rotates anticlockwise, then mirrors. */
  readonly crop?: { readonly width: number; readonly height: number; readonly right?: number; readonly down?: number };
  readonly quarterTurns?: number;
  readonly mirrored?: boolean;
  /** The orientation in an EXIF item. */
  readonly orientation?: number;
  /** An ICC profile. */
  readonly profile?: Buffer;
  /** Transfer characteristics (ITU-T H.273: 16 is PQ, 18 HLG) instead of a profile. */
  readonly transfer?: number;
  /** Colour primaries, with transfer characteristics; BT.2020 (9) unless given. */
  readonly primaries?: number;
  /** Puts the colours only on the tiles. */
  readonly coloursOnTiles?: boolean;
  /** A picture of this colour (ffmpeg's notation), with the matrix of BT.601 and limited range. */
  readonly colour?: string;
  /** Makes the primary item an identity of the picture, which declares this size. */
  readonly identity?: { readonly width: number; readonly height: number };
  /** The id of the primary item, if it is another one: 1 and more for the tiles, 60 for the grid, 62 for the identity. */
  readonly primary?: number;
  /** Further references between items: a type, an id, and the ids that it refers to. */
  readonly references?: readonly (readonly [type: string, from: number, ...to: number[]])[];
  /** A picture that compresses badly, for a large file. */
  readonly noise?: boolean;
  /** Puts the directory after the pictures. */
  readonly directoryLast?: boolean;
}

interface Item {
  readonly id: number;
  readonly kind: string;
  readonly properties: readonly number[];
  readonly within: 'mdat' | 'idat';
  readonly data: Buffer;
}

/** A decodable HEIC or AVIF: a frame by the system's ffmpeg in a hand-made directory (ISO/IEC 23008-12). */
export async function heif(sample: HeifSample): Promise<Buffer> {
  const { coding, width, height, tiles = { columns: 1, rows: 1 }, noise = false, coloursOnTiles = false } = sample;
  const tile = { width: even(width / tiles.columns), height: even(height / tiles.rows) };
  const { setup, frame } = await codedFrame(coding, tile, sample.colour ?? (noise ? 'noise' : 'picture'));
  const turns = transformations(sample);
  const colours = coloursOf(sample);
  const identitySize = sample.identity ? [ispe(sample.identity)] : [];
  const properties = [setup, ispe(tile), pixi, ispe(sample), ...turns, ...colours, ...identitySize];
  const ofColours = colours.map((_, n) => n + 5 + turns.length);
  const ofPrimary = [...turns.map((_, n) => essential(n + 5)), ...(coloursOnTiles ? [] : ofColours)];
  const codec = coding === 'hevc' ? 'hvc1' : 'av01';
  const isGrid = tiles.columns * tiles.rows > 1;
  const pictures = Array.from({ length: tiles.columns * tiles.rows }, (_, n): Item => {
    return {
      id: n + 1,
      kind: codec,
      properties: [essential(1), 2, 3, ...(isGrid ? [] : ofPrimary), ...(coloursOnTiles ? ofColours : [])],
      within: 'mdat',
      data: frame,
    };
  });
  const grid: Item = {
    id: ids.grid,
    kind: 'grid',
    properties: [4, 3, ...ofPrimary],
    within: 'idat',
    data: gridOf(sample, tiles),
  };
  const picture = isGrid ? grid.id : 1;
  const identity: Item = {
    id: ids.identity,
    kind: 'iden',
    properties: [properties.length],
    within: 'idat',
    data: Buffer.alloc(0),
  };
  const primary = sample.primary ?? (sample.identity ? identity.id : picture);
  const notes: Item = {
    id: ids.exif,
    kind: 'Exif',
    properties: [],
    within: 'mdat',
    data: Buffer.concat([u32(0), exif(sample)]),
  };
  const items = [
    ...pictures,
    ...(isGrid ? [grid] : []),
    ...(sample.identity ? [identity] : []),
    ...(sample.orientation === undefined ? [] : [notes]),
  ];
  const references = referencesOf(sample, { picture, tiles: isGrid ? pictures.map(({ id }) => id) : [] });
  const [major, ...compatible] = sample.brands;
  const beginning = ftyp(major, ...compatible);
  const mdat = isoBox('mdat', ...items.filter(({ within }) => within === 'mdat').map(({ data }) => data));
  const directory = (mdatAt: number) => metaOf({ items, primary, references, properties }, mdatAt + 8);
  const mdatAt = beginning.length + (sample.directoryLast ? 0 : directory(0).length);
  return Buffer.concat(
    sample.directoryLast ? [beginning, mdat, directory(mdatAt)] : [beginning, directory(mdatAt), mdat],
  );
}

/** The ids of other items than coded pictures, which count from 1. */
const ids = { grid: 60, exif: 61, identity: 62 } as const;

function referencesOf(
  sample: HeifSample,
  { picture, tiles }: { readonly picture: number; readonly tiles: readonly number[] },
): Buffer[] {
  const reference = (type: string, from: number, to: readonly number[]) => isoBox(type, u16(from, to.length, ...to));
  return [
    ...(sample.references ?? []).map(([type, from, ...to]) => reference(type, from, to)),
    ...(sample.identity ? [reference('dimg', ids.identity, [picture])] : []),
    ...(tiles.length > 0 ? [reference('dimg', ids.grid, tiles)] : []),
    ...(sample.orientation === undefined ? [] : [reference('cdsc', ids.exif, [sample.primary ?? picture])]),
  ];
}

// A video of one frame contains everything that a picture needs: the decoder configuration and the frame.
async function codedFrame(
  coding: HeifSample['coding'],
  { width, height }: { width: number; height: number },
  content: string,
) {
  const size = `size=${width}x${height}`;
  const known: Record<string, string> = { picture: `testsrc2=${size}`, noise: `testsrc2=${size},noise=alls=100` };
  const picture = known[content] ?? `color=${content}:${size},format=gbrp,scale=out_color_matrix=bt601:out_range=tv`;
  const input = ['-f', 'lavfi', '-i', picture, '-frames:v', '1', '-pix_fmt', 'yuv420p'];
  const hevc = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'];
  const coder = coding === 'hevc' ? hevc : ['-c:v', 'libaom-av1', '-cpu-used', '8'];
  const video = await made([...input, ...coder, '-f', 'mp4']);
  const frameAt = video.indexOf('mdat') + 4;
  const setupAt = video.indexOf(coding === 'hevc' ? 'hvcC' : 'av1C') - 4;
  return {
    setup: video.subarray(setupAt, setupAt + video.readUInt32BE(setupAt)),
    frame: video.subarray(frameAt, frameAt - 8 + video.readUInt32BE(frameAt - 8)),
  };
}

function transformations({ crop, quarterTurns, mirrored }: HeifSample): Buffer[] {
  return [
    ...(crop ? [isoBox('clap', u32(crop.width, 1, crop.height, 1, crop.right ?? 0, 1, crop.down ?? 0, 1))] : []),
    ...(quarterTurns === undefined ? [] : [isoBox('irot', Buffer.from([quarterTurns]))]),
    ...(mirrored ? [isoBox('imir', Buffer.from([0]))] : []),
  ];
}

function coloursOf({ profile, transfer, primaries = 9, colour }: HeifSample): Buffer[] {
  if (profile) return [isoBox('colr', Buffer.from('prof'), profile)];
  const matrix = colour ? 6 : 9;
  return transfer ? [isoBox('colr', Buffer.from('nclx'), u16(primaries, transfer, matrix), Buffer.alloc(1))] : [];
}

function gridOf({ width, height }: HeifSample, { columns, rows }: { columns: number; rows: number }): Buffer {
  return Buffer.concat([Buffer.from([0, 0, rows - 1, columns - 1]), u16(width, height)]);
}

interface Directory {
  readonly items: readonly Item[];
  readonly primary: number;
  readonly references: readonly Buffer[];
  readonly properties: readonly Buffer[];
}

function metaOf({ items, primary, references, properties }: Directory, mdatContent: number): Buffer {
  const infe = ({ id, kind }: Item) => isoBox('infe', Buffer.from([2, 0, 0, 0]), u16(id, 0), Buffer.from(`${kind}\0`));
  const associations = items
    .filter((item) => item.properties.length > 0)
    .map((item) => Buffer.concat([u16(item.id), Buffer.from([item.properties.length, ...item.properties])]));
  const inside = items.filter(({ within }) => within === 'idat');
  return isoBox(
    'meta',
    u32(0),
    isoBox('hdlr', u32(0, 0), Buffer.from('pict'), u32(0, 0, 0), Buffer.alloc(1)),
    isoBox('pitm', u32(0), u16(primary)),
    isoBox('iloc', Buffer.from([1, 0, 0, 0, 0x44, 0]), u16(items.length), ...placesOf(items, mdatContent)),
    isoBox('iinf', u32(0), u16(items.length), ...items.map(infe)),
    ...(references.length > 0 ? [isoBox('iref', u32(0), ...references)] : []),
    isoBox('iprp', isoBox('ipco', ...properties), isoBox('ipma', u32(0, associations.length), ...associations)),
    ...(inside.length > 0 ? [isoBox('idat', ...inside.map(({ data }) => data))] : []),
  );
}

function placesOf(items: readonly Item[], mdatContent: number): Buffer[] {
  const next = { mdat: mdatContent, idat: 0 };
  return items.map(({ id, within, data }) => {
    const offset = next[within];
    next[within] += data.length;
    return Buffer.concat([u16(id, within === 'mdat' ? 0 : 1, 0, 1), u32(offset, data.length)]);
  });
}

const pixi = isoBox('pixi', u32(0), Buffer.from([3, 8, 8, 8]));

function ispe({ width, height }: { width: number; height: number }): Buffer {
  return isoBox('ispe', u32(0, width, height));
}

// A reader that does not support an essential property must not show the picture.
function essential(property: number): number {
  return property | 0x80;
}

function even(length: number): number {
  return Math.ceil(length / 2) * 2;
}

function u16(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 2);
  numbers.forEach((number, n) => {
    bytes.writeUInt16BE(number, n * 2);
  });
  return bytes;
}

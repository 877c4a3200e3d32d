import type { Size } from '../size.ts';

/** A directory of tags. */
export interface TiffDirectory {
  has(tag: number): boolean;
  /** The first value of a tag if that is an integer in the entry itself. */
  get(tag: number): number | undefined;
  /** The values of a tag of SHORTs, at most 64. */
  shorts(tag: number): Promise<readonly number[]>;
}

type Read = (offset: number, length: number) => Promise<Buffer>;

// No program writes more entries, and one request of 64 KiB reads so many.
const maxEntries = 3000;

// The sizes of unsigned integers by type, in bytes.
const valueBytes: Record<number, number> = { 1: 1, 3: 2, 4: 4, 16: 8 };

interface Layout {
  readonly order: 'LE' | 'BE';
  readonly isBig: boolean;
  readonly isExif: boolean;
}

/**
 * Reads the first directory of a TIFF (TIFF 6.0 section 2; BigTIFF) or of EXIF, which is a small TIFF. Undefined if it is
 * broken. The directory may be anywhere, often after the pixels.
 *
 * Like libexif, accepts a truncated EXIF directory, uses the first of two entries of a tag, and ignores those without a value.
 */
export async function readFirstDirectory(
  read: Read,
  kind: 'tiff' | 'exif' = 'tiff',
): Promise<TiffDirectory | undefined> {
  const header = await read(0, 16);
  if (header.length < 8) return undefined;
  const order = header.toString('latin1', 0, 2) === 'II' ? 'LE' : 'BE';
  const magic = order === 'LE' ? header.readUInt16LE(2) : header.readUInt16BE(2);
  const layout: Layout = { order, isBig: magic === 43, isExif: kind === 'exif' };
  if ((magic !== 42 && magic !== 43) || (layout.isBig && header.length < 16)) return undefined;
  const offset = layout.isBig ? uint(layout, header, 8, 8) : uint(layout, header, 4, 4);
  const count = entryCount(layout, await read(offset, directoryBytes(layout, 0)));
  if (count > maxEntries) return undefined;
  const entries = splitEntries(layout, count, await read(offset, directoryBytes(layout, count)));
  if (!entries) return undefined;
  const values = firstValues(layout, entries);
  return {
    has: (tag) => values.has(tag),
    get: (tag) => values.get(tag),
    shorts: (tag) =>
      readShorts(
        read,
        layout,
        entries.find((entry) => uint(layout, entry, 0, 2) === tag),
      ),
  };
}

const shortType = 3;
const maxValues = 64;

async function readShorts(read: Read, layout: Layout, entry: Buffer | undefined): Promise<readonly number[]> {
  if (!entry || uint(layout, entry, 2, 2) !== shortType) return [];
  const [countBytes, at] = layout.isBig ? [8, 12] : [4, 8];
  const count = Math.min(uint(layout, entry, 4, countBytes), maxValues);
  const isInline = 2 * count <= countBytes;
  const bytes = isInline ? entry.subarray(at) : await read(uint(layout, entry, at, countBytes), 2 * count);
  return Array.from({ length: bytes.length < 2 * count ? 0 : count }, (_, n) => uint(layout, bytes, 2 * n, 2));
}

function directoryBytes({ isBig }: Layout, entries: number): number {
  return isBig ? 8 + entries * 20 : 2 + entries * 12;
}

function entryCount(layout: Layout, bytes: Buffer): number {
  if (bytes.length < directoryBytes(layout, 0)) return 0;
  return layout.isBig ? uint(layout, bytes, 0, 8) : uint(layout, bytes, 0, 2);
}

function splitEntries(layout: Layout, declared: number, bytes: Buffer): Buffer[] | undefined {
  let count = declared;
  if (layout.isExif) while (count > 0 && bytes.length < directoryBytes(layout, count)) count -= 1;
  if (count === 0 || bytes.length < directoryBytes(layout, count)) return undefined;
  return Array.from({ length: count }, (_, n) =>
    bytes.subarray(directoryBytes(layout, n), directoryBytes(layout, n + 1)),
  );
}

function firstValues(layout: Layout, entries: readonly Buffer[]): ReadonlyMap<number, number | undefined> {
  const directory = new Map<number, number | undefined>();
  for (const entry of entries) {
    const tag = uint(layout, entry, 0, 2);
    const value = firstValue(layout, entry);
    if (layout.isExif && (directory.has(tag) || value === undefined)) continue;
    directory.set(tag, value);
  }
  return directory;
}

function firstValue(layout: Layout, entry: Buffer): number | undefined {
  const type = uint(layout, entry, 2, 2);
  const at = layout.isBig ? 12 : 8;
  const count = layout.isBig ? uint(layout, entry, 4, 8) : uint(layout, entry, 4, 4);
  if (layout.isExif && count === 0) return undefined;
  const size = valueBytes[type];
  if (size === undefined || Math.max(count, 1) * size > (layout.isBig ? 8 : 4)) return undefined;
  return uint(layout, entry, at, size);
}

function uint({ order }: Layout, bytes: Buffer, at: number, size: number): number {
  if (size === 8) return Number(order === 'LE' ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  return order === 'LE' ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
}

const orientationTag = 274;

/** The displayed size: EXIF orientations 5 to 8 swap width and height. */
export function orientSize(size: Size, orientation: number | undefined): Size {
  const isSideways = orientation !== undefined && orientation >= 5 && orientation <= 8;
  return isSideways ? { width: size.height, height: size.width } : size;
}

/** The orientation in EXIF data, 1 to 8, with or without the `Exif\0\0` prefix of JPEG. */
export async function parseExifOrientation(exif: Buffer): Promise<number | undefined> {
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  const directory = await readFirstDirectory(async (offset, length) => tiff.subarray(offset, offset + length), 'exif');
  const orientation = directory?.get(orientationTag) ?? 0;
  return orientation >= 1 && orientation <= 8 ? orientation : undefined;
}

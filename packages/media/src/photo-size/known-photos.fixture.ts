import { randomBytes } from 'node:crypto';
import { animatedWebp, gif } from '@echodrop/testkit/samples/sample-animation';
import { bitmap } from '@echodrop/testkit/samples/sample-bmp';
import { exif, jpegWithExif, segment } from '@echodrop/testkit/samples/sample-exif';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { made, samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { pngChunk, pngWithChunks } from '@echodrop/testkit/samples/sample-png';
import { tiff } from '@echodrop/testkit/samples/sample-tiff';
import { asPictureSequence, turnedBy, withMatrix } from '@echodrop/testkit/samples/sample-video-edits';
import sharp, { type Sharp } from 'sharp';
import type { PhotoType } from '../detect-media-type.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const wide = { width: 64, height: 48 };

/** A photo, and what its record says: its type, its width and its height as displayed. */
export type KnownPhoto = readonly [
  name: string,
  type: PhotoType,
  width: number,
  height: number,
  make: () => Promise<Buffer> | Buffer,
];

// biome-ignore format: a table, one row per line
export const knownPhotos: readonly KnownPhoto[] = [
  ['JPEG', 'jpg', 64, 48, () => samplePhoto('jpg', wide)],
  ['JPEG of one pixel', 'jpg', 1, 1, () => canvas(1, 1).jpeg().toBuffer()],
  ['JPEG, as large as one can be on one side', 'jpg', 65_500, 8, () => canvas(65_500, 8).jpeg().toBuffer()],
  ['JPEG, progressive', 'jpg', 90, 60, () => canvas(90, 60).jpeg({ progressive: true }).toBuffer()],
  ['JPEG with full colour', 'jpg', 91, 61, () => canvas(91, 61).jpeg({ chromaSubsampling: '4:4:4' }).toBuffer()],
  ['JPEG in CMYK', 'jpg', 64, 48, () => canvas(64, 48).toColourspace('cmyk').jpeg().toBuffer()],
  ['JPEG in CMYK, on its side', 'jpg', 48, 64, () => turned(6).toColourspace('cmyk').jpeg().toBuffer()],
  ['JPEG in grey', 'jpg', 64, 48, () => canvas(64, 48).greyscale().jpeg().toBuffer()],
  ['JPEG without loss', 'jpg', 64, 48, () => samplePhoto('jpg', { ...wide, options: ['-c:v', 'ljpeg', '-pix_fmt', 'yuv420p', '-strict', '-1'] })],
  ['JPEG whose EXIF is big-endian, as phones write it', 'jpg', 48, 64, () => withSegments(exifSegment(tiff({ ...wide, order: 'BE', orientation: 6 })))],
  ['JPEG with 60 KiB of EXIF', 'jpg', 48, 64, async () => jpegWithExif(await samplePhoto('jpg', wide), { orientation: 8, padding: 60 * KiB })],
  ['JPEG with a colour profile of 300 KiB', 'jpg', 64, 48, () => withSegments(...profile(5))],
  ['JPEG with a colour profile of 7 MiB before its EXIF', 'jpg', 48, 64, () => withSegments(...profile(115), exifSegment(exif({ orientation: 5 })))],
  ['JPEG with a preview in its EXIF', 'jpg', 48, 64, () => withPreview()],
  ['JPEG of a camera with two pictures (MPO)', 'jpg', 64, 48, () => twoPictures()],
  ['JPEG behind which a page of HTML follows', 'jpg', 64, 48, async () => Buffer.concat([await samplePhoto('jpg', wide), Buffer.from('<html>')])],

  ['PNG', 'png', 64, 48, () => samplePhoto('png', wide)],
  ['PNG of 16 bits', 'png', 64, 48, () => samplePhoto('png', { ...wide, options: ['-pix_fmt', 'rgb48be'] })],
  ['PNG of 16 bits, grey with alpha', 'png', 64, 48, () => samplePhoto('png', { ...wide, options: ['-pix_fmt', 'ya16be'] })],
  ['PNG in black and white', 'png', 62, 48, () => samplePhoto('png', { width: 62, height: 48, options: ['-pix_fmt', 'monob'] })],
  ['PNG with a palette', 'png', 64, 48, () => canvas(64, 48).png({ palette: true }).toBuffer()],
  ['PNG, interlaced', 'png', 64, 48, () => canvas(64, 48).png({ progressive: true }).toBuffer()],
  ['PNG with EXIF behind pixels of 200 KiB', 'png', 240, 320, () => withLateExif(320, 240)],
  ['PNG with EXIF behind a colour profile of 200 KiB', 'png', 48, 64, () => withChunks('first', pngProfile(), pngChunk('eXIf', exif({ orientation: 7 })))],
  ['PNG with 3 MiB of text before its pixels', 'png', 64, 48, () => withChunks('first', pngChunk('tEXt', Buffer.concat([Buffer.from('Comment\0'), Buffer.alloc(3 * MiB, 'x')])))],
  ['PNG whose text only speaks of EXIF', 'png', 64, 48, () => withChunks('last', pngChunk('tEXt', Buffer.from('Comment\0eXIfMM\0*')))],
  ['APNG', 'png', 64, 48, () => made([...moving, '-f', 'apng'])],

  ['GIF', 'gif', 64, 48, () => samplePhoto('gif', wide)],
  ['GIF of 1987', 'gif', 64, 48, async () => Buffer.concat([Buffer.from('GIF87a'), (await samplePhoto('gif', wide)).subarray(6)])],
  ['GIF, animated', 'gif', 64, 48, () => made([...moving, '-f', 'gif'])],
  ['GIF with a small frame on a large screen', 'gif', 500, 400, () => gif({ width: 500, height: 400 }, frame)],
  ['GIF with a small frame on a screen as large as a monitor', 'gif', 640, 480, () => gif({ width: 640, height: 480 }, frame)],
  ['GIF with a small frame on a screen larger than monitors were', 'gif', 2100, 500, () => gif({ width: 2100, height: 500 }, frame)],
  ['GIF with a small frame on a screen of no size', 'gif', 73, 65, () => gif({ width: 0, height: 0 }, frame)],
  ['GIF with a small frame on a screen without width', 'gif', 73, 65, () => gif({ width: 0, height: 500 }, frame)],
  ['GIF with a frame that its screen is too small for', 'gif', 73, 65, () => gif({ width: 40, height: 30 }, frame)],
  ['GIF with a frame that its screen is too low for', 'gif', 300, 65, () => gif({ width: 300, height: 30 }, frame)],
  ['GIF, animated, on a screen as large as a monitor', 'gif', 800, 600, () => gif({ width: 800, height: 600 }, frame, { ...frame, left: 200 })],
  ['GIF, animated, its second frame beyond its screen', 'gif', 80, 70, () => gif({ width: 80, height: 70 }, frame, { ...frame, left: 60, top: 60 })],
  ['GIF, animated, on a screen as large as a monitor, its second frame beyond it', 'gif', 640, 480, () => gif({ width: 640, height: 480 }, frame, { ...frame, left: 600, top: 50 })],
  ['GIF, animated, its second frame beyond its first', 'gif', 64, 48, () => gif({ width: 0, height: 0 }, { ...frame, left: 0, top: 0 }, frame)],
  ['GIF with notes of 300 KiB before its frame', 'gif', 80, 70, () => withNotes(gif({ width: 80, height: 70 }, frame))],

  ['WebP', 'webp', 64, 48, () => samplePhoto('webp', wide)],
  ['WebP without loss', 'webp', 64, 48, () => canvas(64, 48).webp({ lossless: true }).toBuffer()],
  ['WebP with alpha', 'webp', 63, 47, () => canvas(63, 47).ensureAlpha(0.5).webp().toBuffer()],
  ['WebP as large as one can be on one side', 'webp', 16_383, 4, () => canvas(16_383, 4).webp().toBuffer()],
  ['WebP with EXIF and a colour profile', 'webp', 48, 64, () => turned(8).withIccProfile('p3').webp().toBuffer()],
  ['WebP with EXIF behind pixels of 100 KiB', 'webp', 500, 800, () => turned(6, 800, 500).webp({ quality: 100, effort: 0 }).toBuffer()],
  ['WebP, animated', 'webp', 64, 48, () => made([...moving, '-c:v', 'libwebp_anim', '-f', 'webp'])],
  ['WebP, animated, frames smaller than its canvas', 'webp', 500, 400, () => webpAnimation(2)],
  ['WebP, animated, EXIF behind a hundred frames', 'webp', 400, 500, () => webpAnimation(100, exif({ orientation: 6 }))],

  ['AVIF', 'avif', 64, 48, () => samplePhoto('avif', wide)],
  ['AVIF of ten bits', 'avif', 64, 48, () => samplePhoto('avif', { ...wide, options: ['-pix_fmt', 'yuv420p10le'] })],
  ['AVIF with alpha', 'avif', 64, 48, () => canvas(64, 48).ensureAlpha(0.5).avif({ effort: 0 }).toBuffer()],
  ['AVIF on its side', 'avif', 48, 64, () => turned(6).avif({ effort: 0 }).toBuffer()],
  ['AVIF, mirrored', 'avif', 300, 200, () => heif({ ...avif, mirrored: true })],
  ['AVIF, cropped, then turned', 'avif', 80, 200, () => heif({ ...avif, crop: { width: 200, height: 80 }, quarterTurns: 3 })],
  ['AVIF of four tiles', 'avif', 300, 200, () => heif({ ...avif, tiles: { columns: 2, rows: 2 } })],
  ['AVIF of high dynamic range', 'avif', 300, 200, () => heif({ ...avif, transfer: 16 })],
  ['AVIF of high dynamic range, of four tiles', 'avif', 300, 200, () => heif({ ...avif, transfer: 18, tiles: { columns: 2, rows: 2 } })],
  ['AVIF of high dynamic range, turned', 'avif', 200, 300, () => heif({ ...avif, transfer: 16, quarterTurns: 1 })],
  ['AVIF whose EXIF says that it is turned, which counts for none', 'avif', 300, 200, () => heif({ ...avif, orientation: 6 })],
  ['AVIF by its compatible brands', 'avif', 300, 200, () => heif({ ...avif, brands: ['mif1', 'miaf', 'avif'] })],
  ['AVIF sequence without a track', 'avif', 300, 200, () => heif({ ...avif, brands: ['avis', 'msf1', 'mif1', 'avif'] })],
  ['AVIF sequence', 'avif', 64, 48, () => made([...moving, '-c:v', 'libaom-av1', '-cpu-used', '8', '-f', 'avif'])],

  ['HEIC', 'heic', 300, 200, () => heif(heic)],
  ['HEIC, turned', 'heic', 200, 300, () => heif({ ...heic, quarterTurns: 3 })],
  ['HEIC, upside down', 'heic', 300, 200, () => heif({ ...heic, quarterTurns: 2 })],
  ['HEIC, cropped', 'heic', 200, 80, () => heif({ ...heic, crop: { width: 200, height: 80 } })],
  ['HEIC, cropped, turned and mirrored', 'heic', 80, 200, () => heif({ ...heic, crop: { width: 200, height: 80 }, quarterTurns: 1, mirrored: true })],
  ['HEIC, cropped to a little', 'heic', 32, 24, () => heif({ ...heic, crop: { width: 32, height: 24 } })],
  ['HEIC of twelve tiles', 'heic', 500, 300, () => heif({ ...heic, width: 500, height: 300, tiles: { columns: 4, rows: 3 } })],
  ['HEIC of a phone: tiles, turned, and EXIF that says so again', 'heic', 300, 500, () => heif({ ...heic, width: 500, height: 300, tiles: { columns: 4, rows: 3 }, quarterTurns: 3, orientation: 6 })],
  ['HEIC turned by its EXIF alone', 'heic', 200, 300, () => heif({ ...heic, orientation: 6 })],
  ['HEIC of tiles, turned by its EXIF alone', 'heic', 200, 300, () => heif({ ...heic, tiles: { columns: 2, rows: 2 }, orientation: 8 })],
  ['HEIC, mirrored, whose EXIF says that it is turned', 'heic', 300, 200, () => heif({ ...heic, mirrored: true, orientation: 6 })],
  ['HEIC whose directory is at its end', 'heic', 200, 300, () => heif({ ...heic, directoryLast: true, quarterTurns: 1 })],
  ['HEIC of ten bits, by its brand', 'heic', 300, 200, () => heif({ ...heic, brands: ['heix', 'mif1', 'heix'] })],
  ['HEIC of several layers, by its brand', 'heic', 300, 200, () => heif({ ...heic, brands: ['heim', 'mif1'] })],
  ['HEIC that can be scaled, by its brand', 'heic', 300, 200, () => heif({ ...heic, brands: ['heis', 'mif1'] })],
  ['HEIC by its compatible brands', 'heic', 300, 200, () => heif({ ...heic, brands: ['mif1', 'heic'] })],
  ['HEIC sequence with a first picture', 'heic', 300, 200, () => heif({ ...heic, brands: ['hevc', 'msf1', 'mif1', 'heic'] })],
  ['HEIC sequence, a track alone', 'heic', 64, 48, async () => asPictureSequence(await hevcVideo(), 'msf1', 'hevc')],
  ['HEIC sequence, a track alone, turned', 'heic', 48, 64, async () => asPictureSequence(withMatrix(await hevcVideo(), turnedBy[90]), 'hevc')],

  ['TIFF', 'tiff', 64, 48, () => samplePhoto('tiff', wide)],
  ['TIFF, big-endian', 'tiff', 64, 48, () => tiff({ ...wide, order: 'BE' })],
  ['TIFF, directory first', 'tiff', 64, 48, () => tiff({ ...wide, order: 'LE', directory: 'first' })],
  ['TIFF, directory behind a megabyte of pixels, on its side', 'tiff', 900, 1200, () => tiff({ width: 1200, height: 900, order: 'BE', orientation: 6 })],
  ['BigTIFF', 'tiff', 64, 48, () => canvas(64, 48).tiff({ bigtiff: true }).toBuffer()],
  ['BigTIFF, big-endian, on its side', 'tiff', 48, 64, () => tiff({ ...wide, order: 'BE', big: true, orientation: 7 })],
  ['TIFF of five pages', 'tiff', 64, 48, () => tiff({ ...wide, order: 'LE', pages: 5 })],
  ['TIFF of tiles', 'tiff', 600, 400, () => canvas(600, 400).tiff({ tile: true, compression: 'deflate' }).toBuffer()],
  ['TIFF, a pyramid', 'tiff', 600, 400, () => canvas(600, 400).tiff({ tile: true, pyramid: true, compression: 'lzw' }).toBuffer()],
  ['TIFF in CMYK', 'tiff', 64, 48, () => canvas(64, 48).toColourspace('cmyk').tiff({ compression: 'lzw' }).toBuffer()],
  ['TIFF of 16 bits', 'tiff', 64, 48, () => samplePhoto('tiff', { ...wide, options: ['-pix_fmt', 'rgb48le'] })],
  ['TIFF in black and white', 'tiff', 62, 48, () => samplePhoto('tiff', { width: 62, height: 48, options: ['-pix_fmt', 'monob'] })],
  ['TIFF of WebP', 'tiff', 64, 48, () => canvas(64, 48).tiff({ compression: 'webp' }).toBuffer()],
  ['TIFF of fax pages', 'tiff', 64, 48, () => canvas(64, 48).toColourspace('b-w').tiff({ compression: 'ccittfax4', bitdepth: 1 }).toBuffer()],
  ['TIFF of PackBits', 'tiff', 64, 48, () => canvas(64, 48).tiff({ compression: 'packbits' }).toBuffer()],
  ['TIFF of JPEG', 'tiff', 64, 48, () => canvas(64, 48).tiff({ compression: 'jpeg' }).toBuffer()],

  ['BMP', 'bmp', 66, 46, () => samplePhoto('bmp', { width: 66, height: 46 })],
  ['BMP with a palette', 'bmp', 62, 46, () => samplePhoto('bmp', { width: 62, height: 46, options: ['-pix_fmt', 'pal8'] })],
  ['BMP of 16 bits', 'bmp', 62, 46, () => samplePhoto('bmp', { width: 62, height: 46, options: ['-pix_fmt', 'rgb565le'] })],
  ['BMP in black and white', 'bmp', 62, 46, () => samplePhoto('bmp', { width: 62, height: 46, options: ['-pix_fmt', 'monob'] })],
  ['BMP whose rows begin at the top', 'bmp', 65, 46, () => bitmap({ width: 65, height: 46, header: 40, topDown: true })],
  ['BMP whose last row is not filled up', 'bmp', 65, 46, () => bitmap({ width: 65, height: 46, header: 40 }).subarray(0, -1)],
  ['BMP of OS/2', 'bmp', 65, 46, () => bitmap({ width: 65, height: 46, header: 12 })],
  ['BMP of OS/2 2', 'bmp', 65, 46, () => bitmap({ width: 65, height: 46, header: 64 })],
  ['BMP of OS/2 2, its header cut short', 'bmp', 65, 46, () => bitmap({ width: 65, height: 46, header: 16 })],
  ['BMP of Windows 95 (V4)', 'bmp', 65, 46, () => bitmap({ width: 65, height: 46, header: 108 })],
  ['BMP of Windows 98 (V5)', 'bmp', 65, 46, () => bitmap({ width: 65, height: 46, header: 124 })],
];

const everyWay: Record<string, (orientation: number) => Promise<Buffer>> = {
  jpg: (orientation) => turned(orientation).jpeg().toBuffer(),
  png: (orientation) => turned(orientation).png().toBuffer(),
  'png, behind its pixels': (orientation) => withChunks('last', pngChunk('eXIf', exif({ orientation }))),
  webp: (orientation) => turned(orientation).webp().toBuffer(),
  tiff: (orientation) => turned(orientation).tiff().toBuffer(),
  heic: (orientation) => heif({ ...heic, ...wide, orientation }),
};
/** Photos in every orientation that EXIF has, and where they store it. */
export const turnedPhotos: readonly KnownPhoto[] = Object.entries(everyWay).flatMap(([how, make]) =>
  [1, 2, 3, 4, 5, 6, 7, 8].map((orientation): KnownPhoto => {
    const [width, height] = orientation > 4 ? [48, 64] : [64, 48];
    const type = how.split(',', 1)[0] as PhotoType;
    return [`${how} in EXIF orientation ${orientation}`, type, width, height, () => make(orientation)];
  }),
);

const avif = { coding: 'av1', brands: ['avif', 'mif1', 'miaf'], width: 300, height: 200 } as const;
const heic = { coding: 'hevc', brands: ['heic', 'mif1'], width: 300, height: 200 } as const;
const frame = { left: 9, top: 17, width: 64, height: 48, colour: 'red' } as const;
const moving = ['-f', 'lavfi', '-i', 'testsrc2=size=64x48:rate=5:duration=1'];

/** A picture of noise. */
export function canvas(width: number, height: number): Sharp {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  return sharp({ create: { width, height, channels: 3, background: '#000', noise } });
}

/** A picture of noise, with an orientation in its EXIF. */
export function turned(orientation: number, width = 64, height = 48): Sharp {
  return canvas(width, height).withMetadata({ orientation });
}

/** A JPEG with segments of its own before all others. */
async function withSegments(...segments: readonly Buffer[]): Promise<Buffer> {
  const jpeg = await samplePhoto('jpg', wide);
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

function exifSegment(content: Buffer): Buffer {
  return segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), content]));
}

/** A colour profile in so many segments of 65,000 bytes. */
function profile(segments: number): Buffer[] {
  return Array.from({ length: segments }, (_, n) =>
    segment(
      0xe2,
      Buffer.concat([Buffer.from('ICC_PROFILE\0', 'latin1'), Buffer.from([n + 1, segments]), Buffer.alloc(65_000)]),
    ),
  );
}

async function withPreview(): Promise<Buffer> {
  const preview = await samplePhoto('jpg', { width: 16, height: 12 });
  return withSegments(exifSegment(Buffer.concat([exif({ orientation: 6 }), preview])));
}

async function twoPictures(): Promise<Buffer> {
  const second = await samplePhoto('jpg', { width: 32, height: 24 });
  return Buffer.concat([await withSegments(segment(0xe2, Buffer.from('MPF\0MM\0*\0\0\0\x08', 'latin1'))), second]);
}

async function withChunks(where: 'first' | 'last', ...chunks: readonly Buffer[]): Promise<Buffer> {
  return pngWithChunks(await samplePhoto('png', wide), where, ...chunks);
}

async function withLateExif(width: number, height: number): Promise<Buffer> {
  return pngWithChunks(
    await canvas(width, height).png().toBuffer(),
    'last',
    pngChunk('eXIf', exif({ orientation: 6 })),
  );
}

// Of the bytes that a profile is coded in nothing can be said, so this one does not shrink.
function pngProfile(): Buffer {
  return pngChunk('iCCP', Buffer.concat([Buffer.from('p\0\0\x78\x01', 'latin1'), randomBytes(200 * KiB)]));
}

/** A GIF with a comment before its first frame. */
function withNotes(gifBytes: Buffer): Buffer {
  const firstFrame = gifBytes.indexOf(Buffer.from('\x21\xf9', 'latin1'));
  const block = Buffer.concat([Buffer.from([255]), Buffer.alloc(255, ',')]);
  const comment = Buffer.concat([Buffer.from('\x21\xfe', 'latin1'), Buffer.alloc(300 * KiB, block), Buffer.from([0])]);
  return Buffer.concat([gifBytes.subarray(0, firstFrame), comment, gifBytes.subarray(firstFrame)]);
}

async function webpAnimation(frames: number, notes?: Buffer): Promise<Buffer> {
  const frame = await samplePhoto('webp', wide);
  const canvasSize = { width: 500, height: 400 };
  return animatedWebp({ canvas: canvasSize, frame, frameSize: wide, frames, ...(notes && { exif: notes }) });
}

function hevcVideo(): Promise<Buffer> {
  return made([...moving, '-c:v', 'libx265', '-x265-params', 'log-level=none', '-tag:v', 'hvc1', '-f', 'mp4']);
}

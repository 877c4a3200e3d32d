import { deflateSync } from 'node:zlib';
import { segment } from '../samples/sample-exif.ts';
import { ftyp, heifHeader, isoBox } from '../samples/sample-iso.ts';
import { samplePhoto } from '../samples/sample-media.ts';
import { pngChunk, pngWithChunks } from '../samples/sample-png.ts';
import {
  bmp,
  bomb,
  boxHeader,
  gif,
  header,
  intoJpeg,
  jpeg,
  png,
  pngMagic,
  pngWithTexts,
  riffWebp,
  soi,
  tiff,
  tiffOf,
  vp8l,
  vp8x,
} from './hostile-photo-parts.ts';
import { type HostileMedia, hostile } from './hostile-sample.ts';

const small = { width: 32, height: 24 };
const huge = 65_000;

/** Photos with false claims, decompression bombs or cycles. */
export const hostilePhotos: readonly HostileMedia[] = [
  // A few bytes that claim billions of pixels.
  hostile('a PNG of 65000 x 65000', 'too_many_pixels', () =>
    png(header(huge, huge), pngChunk('IDAT', deflateSync(''))),
  ),
  hostile('a PNG of 2^31 pixels in a row', 'refused', () => png(header(2 ** 31, 1))),
  hostile('a PNG without pixels', 'broken', () => png(header(0, 0))),
  hostile('a GIF of 65535 x 65535', 'too_many_pixels', () => gif(65_535, 65_535)),
  hostile('a GIF without pixels', 'broken', () => gif(0, 10)),
  hostile('a JPEG of 65000 x 65000', 'too_many_pixels', () => jpeg(huge, huge)),
  hostile('a JPEG without height', 'broken', () => jpeg(100, 0)),
  hostile('a WebP of 16384 x 16384', 'too_many_pixels', () => riffWebp('VP8L', vp8l(16_384, 16_384))),
  hostile('a WebP whose canvas is 2^24 wide', 'too_many_pixels', () => riffWebp('VP8X', vp8x(2 ** 24, 2 ** 24))),
  hostile('a truncated WebP', 'broken', () => riffWebp('VP8L', vp8l(10, 10), 2 ** 31)),
  hostile('a TIFF of 65000 x 65000', 'too_many_pixels', () => tiff([256, 4, 1, huge], [257, 4, 1, huge])),
  hostile('a TIFF of 2^32 - 1 in a row', 'too_many_pixels', () => tiff([256, 4, 1, 2 ** 32 - 1], [257, 4, 1, 1])),
  hostile('a TIFF with ZSTD', 'codec', () => tiff([256, 4, 1, 100], [257, 4, 1, 100], [259, 3, 1, 50_000])),
  hostile('a BMP of 65000 x 65000 without pixels', 'broken', () => bmp(huge, huge)),
  hostile('a BMP of 2^31 - 1 in compressed rows', 'too_many_pixels', () => bmp(2 ** 31 - 1, 2 ** 31 - 1, 1)),
  hostile('a BMP with a JPEG inside', 'codec', () => bmp(100, 100, 4)),
  hostile('a BMP of negative width', 'broken', () => bmp(-100, 100)),
  hostile('a BMP of the lowest possible height', 'refused', () => bmp(1, -(2 ** 31))),
  hostile('an AVIF of 2^32 - 1 squared', 'too_many_pixels', () =>
    heifHeader('avif', { width: 2 ** 32 - 1, height: 2 ** 32 - 1 }),
  ),
  hostile('a HEIC of 65000 x 65000', 'too_many_pixels', () => heifHeader('heic', { width: huge, height: huge })),
  hostile('a HEIC without pixels', 'broken', () => heifHeader('heic', { width: 0, height: 0 })),

  // Decompression bombs before or between the pixels.
  hostile('a PNG with a colour profile of 128 MiB', 'png 32x24', () => bomb('iCCP', 'icc\0\0')),
  hostile('a PNG with a text of 128 MiB', 'png 32x24', () => bomb('zTXt', 'Comment\0\0')),
  hostile('a PNG with a thousand texts of a megabyte', 'png 32x24', () => pngWithTexts(1000, 2 ** 20)),
  hostile('a PNG with sixteen texts of 50 MB', 'png 32x24', () => pngWithTexts(16, 50_000_000)),
  hostile('a PNG with four hundred texts of a megabyte', 'png 32x24', () => pngWithTexts(400, 2 ** 20)),
  hostile('a PNG with a text in each of 100,000 chunks', 'too_costly', async () =>
    pngWithChunks(
      await samplePhoto('png', small),
      'first',
      ...new Array<Buffer>(100_000).fill(pngChunk('tEXt', Buffer.from('k\0t'))),
    ),
  ),
  hostile('a PNG of which 300 chunks of 100 KB are texts', 'too_costly', async () =>
    pngWithChunks(
      await samplePhoto('png', small),
      'first',
      ...new Array<Buffer>(300).fill(pngChunk('tEXt', Buffer.alloc(100_000, 'k'))),
    ),
  ),
  hostile('a PNG whose pixels are 64 MiB of zeros', 'png 8000x8000', () =>
    png(header(8000, 8000), pngChunk('IDAT', deflateSync(Buffer.alloc(2 ** 26)))),
  ),
  hostile('a GIF of comments only', 'too_costly', () =>
    Buffer.concat([gif(10, 10).subarray(0, 13), Buffer.alloc(9 * 2 ** 20, Buffer.from([0x21, 0xfe, 1, 0x21, 0]))]),
  ),
  hostile('a GIF whose first frame is 65535 x 65535', 'too_many_pixels', () => {
    const bytes = gif(10, 10, 1);
    bytes.fill(0xff, 18, 22);
    return bytes;
  }),
  hostile('a GIF of 65535 frames', 'gif 10x10', () => gif(10, 10, 65_535)),
  hostile('a JPEG of comments only', 'too_costly', () =>
    Buffer.concat([soi, ...Array.from({ length: 160 }, () => segment(0xfe, Buffer.alloc(65_533))), soi]),
  ),
  hostile('a JPEG with endless progressive scans', 'jpg 8000x8000', () =>
    Buffer.concat([
      jpeg(8000, 8000, 0xc2),
      ...Array.from({ length: 10_000 }, () => segment(0xda, Buffer.from([1, 1, 0, 0, 0, 0]))),
    ]),
  ),

  // False directories and boxes.
  hostile('a TIFF whose directory points to itself', 'tiff 32x24', () => tiffOf(32, 24, 8)),
  hostile('a TIFF with its directory in the header', 'broken', () => Buffer.from('II*\0\0\0\0\0', 'latin1')),
  hostile('a TIFF with its directory beyond the end', 'broken', () =>
    Buffer.concat([Buffer.from('II*\0\xff\xff\xff\xff', 'latin1'), Buffer.alloc(64)]),
  ),
  hostile('a TIFF with 65535 missing entries', 'broken', () =>
    Buffer.concat([Buffer.from('II*\0\x08\0\0\0\xff\xff', 'latin1'), Buffer.alloc(64)]),
  ),
  hostile('a TIFF whose width has 2^32 - 1 values', 'broken', () => tiff([256, 4, 2 ** 32 - 1, 8], [257, 4, 1, 8])),
  hostile('a big TIFF whose directory is 2^63 away', 'broken', () =>
    Buffer.concat([Buffer.from('II+\0\x08\0\0\0\0\0\0\0\0\0\0\x80', 'latin1'), Buffer.alloc(64)]),
  ),
  hostile('a Nikon or Adobe raw photo in a TIFF', 'unknown_type', () =>
    tiff([256, 4, 1, 100], [257, 4, 1, 100], [50_706, 1, 4, 0x01040000]),
  ),
  hostile('a JPEG whose EXIF points outside of itself', 'jpg 32x24', async () =>
    intoJpeg(await samplePhoto('jpg', small), Buffer.from('Exif\0\0II*\0\xff\xff\xff\x7f', 'latin1')),
  ),
  hostile('a JPEG whose EXIF has 2^32 - 1 values', 'jpg 32x24', async () =>
    intoJpeg(
      await samplePhoto('jpg', small),
      Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff([0x0112, 3, 2 ** 32 - 1, 8])]),
    ),
  ),
  hostile('a JPEG whose EXIF directory points to itself', 'jpg 32x24', async () =>
    intoJpeg(await samplePhoto('jpg', small), Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiffOf(1, 1, 8)])),
  ),
  hostile('a JPEG with a segment of length 0', 'broken', () => Buffer.concat([soi, Buffer.from([0xff, 0xe1, 0, 0])])),
  hostile('a PNG with a chunk of 2^31', 'broken', () =>
    Buffer.concat([pngMagic, header(32, 24), Buffer.from('\x80\0\0\0IDAT', 'latin1')]),
  ),
  hostile('a HEIC whose directory claims 4 GiB', 'broken', () =>
    Buffer.concat([ftyp('heic'), Buffer.from('\xff\xff\xff\xffmeta', 'latin1'), Buffer.alloc(64)]),
  ),
  hostile('an AVIF whose boxes have length 0', 'broken', () =>
    Buffer.concat([ftyp('avif'), Buffer.from('\0\0\0\x01meta\0\0\0\0\0\0\0\0', 'latin1'), Buffer.alloc(64)]),
  ),
  hostile('an AVIF with 100,000 boxes before its directory', 'broken', () =>
    Buffer.concat([ftyp('avif'), ...Array.from({ length: 100_000 }, () => isoBox('free')), isoBox('meta')]),
  ),
  hostile(
    'a HEIC whose directory is 200 MiB',
    'too_costly',
    () => Buffer.concat([ftyp('heic'), boxHeader('meta', 200 * 2 ** 20)]),
    200 * 2 ** 20,
  ),
  hostile('a HEIC with 10,000 nested boxes', 'broken', () => {
    let inner: Buffer = Buffer.alloc(0);
    for (let n = 0; n < 10_000; n++) inner = Buffer.concat([boxHeader('iprp', inner.length + 8), inner]);
    return Buffer.concat([ftyp('heic'), isoBox('meta', Buffer.alloc(4), inner)]);
  }),
];

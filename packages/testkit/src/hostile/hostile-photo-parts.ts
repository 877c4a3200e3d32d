import { deflateSync } from 'node:zlib';
import { directory, entry, segment } from '../samples/sample-exif.ts';
import { u32 } from '../samples/sample-iso.ts';
import { samplePhoto } from '../samples/sample-media.ts';
import { pngChunk, pngWithChunks } from '../samples/sample-png.ts';

export const soi = Buffer.from([0xff, 0xd8]);
export const pngMagic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export function png(...chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([pngMagic, ...chunks, pngChunk('IEND', Buffer.alloc(0))]);
}

export function header(width: number, height: number): Buffer {
  return pngChunk('IHDR', Buffer.concat([u32(width), u32(height), Buffer.from([8, 0, 0, 0, 0])]));
}

/** A chunk of `bytes` letters, compressed a thousandfold. Not zeros, because libpng ends a text at the first one. */
function text(type: string, keyword: string, bytes: number): Buffer {
  return pngChunk(type, Buffer.concat([Buffer.from(keyword, 'latin1'), deflateSync(Buffer.alloc(bytes, 'a'))]));
}

export async function bomb(type: string, keyword: string): Promise<Buffer> {
  return pngWithChunks(await samplePhoto('png', { width: 32, height: 24 }), 'first', text(type, keyword, 2 ** 27));
}

/** A PNG of 32 x 24 with compressed texts of `bytes` each. */
export async function pngWithTexts(texts: number, bytes: number): Promise<Buffer> {
  const one = text('zTXt', 'Comment\0\0', bytes);
  return pngWithChunks(
    await samplePhoto('png', { width: 32, height: 24 }),
    'first',
    ...new Array<Buffer>(texts).fill(one),
  );
}

export function intoJpeg(sample: Buffer, exif: Buffer): Buffer {
  return Buffer.concat([soi, segment(0xe1, exif), sample.subarray(2)]);
}

export function jpeg(width: number, height: number, frame = 0xc0): Buffer {
  const component = [1, 0x11, 0];
  return Buffer.concat([
    soi,
    segment(frame, Buffer.from([8, height >> 8, height & 255, width >> 8, width & 255, 1, ...component])),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  ]);
}

export function gif(width: number, height: number, frames = 0): Buffer {
  const screen = Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1');
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 255, 255, 255, 2, 2, 0x44, 1, 0]);
  return Buffer.concat([screen, ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])]);
}

export function riffWebp(type: string, data: Buffer, says = data.length + 12): Buffer {
  const head = Buffer.from(`RIFF\0\0\0\0WEBP${type}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(says, 4);
  head.writeUInt32LE(data.length, 16);
  return Buffer.concat([head, data]);
}

export function vp8l(width: number, height: number): Buffer {
  const data = Buffer.alloc(16);
  data.writeUInt8(0x2f);
  data.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  return data;
}

export function vp8x(width: number, height: number): Buffer {
  const data = Buffer.alloc(10);
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return data;
}

export function bmp(width: number, height: number, coding = 0): Buffer {
  const head = Buffer.alloc(54);
  head.write('BM', 'latin1');
  head.writeUInt32LE(54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  head.writeUInt16LE(24, 28);
  head.writeUInt32LE(coding, 30);
  return head;
}

export type Entry = readonly [tag: number, type: number, count: number, value: number];

export function tiff(...entries: readonly Entry[]): Buffer {
  return tiffWith(entries, 0);
}

/** A photo whose first directory points to the next one at `next`. */
export function tiffOf(width: number, height: number, next: number): Buffer {
  return tiffWith(
    [
      [256, 4, 1, width],
      [257, 4, 1, height],
    ],
    next,
  );
}

export function tiffWith(entries: readonly Entry[], next: number): Buffer {
  const own = entries.map((each) => entry(...each));
  return Buffer.concat([Buffer.from('II*\0\x08\0\0\0', 'latin1'), directory(own, next)]);
}

export function boxHeader(type: string, size: number): Buffer {
  return Buffer.concat([u32(size), Buffer.from(type, 'latin1')]);
}

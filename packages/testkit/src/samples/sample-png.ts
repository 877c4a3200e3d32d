import { crc32, deflateSync } from 'node:zlib';

/** A chunk of a PNG. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

/** Inserts chunks after the header, or after the pixels. */
export function pngWithChunks(png: Buffer, where: 'first' | 'last', ...chunks: readonly Buffer[]): Buffer {
  const headerEnd = 8 + 12 + 13;
  const at = where === 'first' ? headerEnd : png.length - 12;
  return Buffer.concat([png.subarray(0, at), ...chunks, png.subarray(at)]);
}

/** Samples of one colour: grey (1), grey and alpha (2), RGB (3) or RGBA (4), of 8 or 16 bits. */
export interface PngColour {
  readonly samples: readonly number[];
  readonly bits: 8 | 16;
}

/** A PNG of one colour, with chunks before its pixels. */
export function pngOfColour(
  { width, height }: { readonly width: number; readonly height: number },
  { samples, bits }: PngColour,
  ...chunks: readonly Buffer[]
): Buffer {
  const pixel = Buffer.alloc((samples.length * bits) / 8);
  samples.forEach((sample, n) => {
    if (bits === 8) pixel.writeUInt8(sample, n);
    else pixel.writeUInt16BE(sample, n * 2);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(bits, 8);
  header.writeUInt8([0, 4, 2, 6][samples.length - 1] ?? 0, 9);
  const line = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * pixel.length, pixel)]);
  const pixels = deflateSync(Buffer.alloc(height * line.length, line));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

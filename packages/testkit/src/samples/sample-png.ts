import { crc32 } from 'node:zlib';

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

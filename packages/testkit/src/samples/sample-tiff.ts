export interface TiffSample {
  readonly width: number;
  readonly height: number;
  readonly order: 'LE' | 'BE';
  readonly big?: boolean;
  readonly orientation?: number;
  readonly directory?: 'first' | 'last';
  /** Pages; those after the first have half its size. */
  readonly pages?: number;
  /** Bits per sample. */
  readonly bits?: 8 | 32;
}

/** Tag, type (3: two bytes, 4: four), value. */
type Entry = readonly [number, 3 | 4, number];

/** An uncompressed grey TIFF, in either byte order and with either offset size. */
export function tiff({
  width,
  height,
  order,
  big = false,
  orientation = 1,
  directory = 'last',
  pages = 1,
  bits = 8,
}: TiffSample): Buffer {
  const layout = { order, big };
  const bytes = bits / 8;
  const header = big ? 16 : 8;
  const parts: Buffer[] = [];
  let at = header;
  const firstAt = directory === 'first' ? header : header + width * height * bytes;
  for (let page = 0; page < pages; page++) {
    const size = page === 0 ? { width, height } : { width: width >> 1, height: height >> 1 };
    const pixels = Buffer.alloc(size.width * size.height * bytes, 128);
    const length = entriesBytes(layout, 10);
    const [directoryAt, pixelsAt] = directory === 'first' ? [at, at + length] : [at + pixels.length, at];
    const pageEnd = at + pixels.length + length;
    const nextPixels = directory === 'first' ? 0 : (width >> 1) * (height >> 1) * bytes;
    const next = page + 1 < pages ? pageEnd + nextPixels : 0;
    const entries: Entry[] = [
      [256, 4, size.width],
      [257, 3, size.height],
      [258, 3, bits],
      [259, 3, 1],
      [262, 3, 1],
      [273, 4, pixelsAt],
      [274, 3, orientation],
      [277, 3, 1],
      [278, 4, size.height],
      [279, 4, pixels.length],
    ];
    const tags = directoryBytes(layout, entries, next);
    parts.push(...(directoryAt < pixelsAt ? [tags, pixels] : [pixels, tags]));
    at = pageEnd;
  }
  return Buffer.concat([headerOf(layout, firstAt), ...parts]);
}

interface Layout {
  readonly order: 'LE' | 'BE';
  readonly big: boolean;
}

function headerOf({ order, big }: Layout, firstDirectory: number): Buffer {
  const mark = Buffer.from(order === 'LE' ? 'II' : 'MM');
  if (!big) return Buffer.concat([mark, uint(order, 2, 42), uint(order, 4, firstDirectory)]);
  return Buffer.concat([
    mark,
    uint(order, 2, 43),
    uint(order, 2, 8),
    uint(order, 2, 0),
    uint(order, 8, firstDirectory),
  ]);
}

function entriesBytes({ big }: Layout, count: number): number {
  return big ? 8 + count * 20 + 8 : 2 + count * 12 + 4;
}

function directoryBytes({ order, big }: Layout, entries: readonly Entry[], next: number): Buffer {
  const word = big ? 8 : 4;
  const written = entries.map(([tag, type, value]) => {
    const bytes = uint(order, type === 3 ? 2 : 4, value);
    return Buffer.concat([
      uint(order, 2, tag),
      uint(order, 2, type),
      uint(order, word, 1),
      bytes,
      Buffer.alloc(word - bytes.length),
    ]);
  });
  return Buffer.concat([uint(order, big ? 8 : 2, entries.length), ...written, uint(order, word, next)]);
}

function uint(order: 'LE' | 'BE', length: 2 | 4 | 8, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  const cut = bytes.subarray(8 - length);
  return order === 'LE' ? cut.reverse() : cut;
}

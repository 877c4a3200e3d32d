/** The content of sample EXIF. `mark` is the location, which tests search for later. */
export interface SampleExif {
  readonly orientation?: number;
  readonly mark?: string;
  /** Additional bytes, as of previews and maker notes. */
  readonly padding?: number;
}

/** EXIF data: a little-endian TIFF with orientation, description, and a GPS directory with an area name. */
export function exif({ orientation = 1, mark = 'somewhere', padding = 0 }: SampleExif): Buffer {
  const text = Buffer.from(`${mark}\0`.padEnd(8, '\0'), 'latin1');
  const gpsAt = 8 + 2 + 3 * 12 + 4;
  const textAt = gpsAt + 2 + 12 + 4;
  const main = directory([
    entry(0x010e, 2, text.length, textAt),
    entry(0x0112, 3, 1, orientation),
    entry(0x8825, 4, 1, gpsAt),
  ]);
  const gps = directory([entry(0x001c, 7, text.length, textAt)]);
  return Buffer.concat([Buffer.from('II*\0\x08\0\0\0', 'latin1'), main, gps, text, Buffer.alloc(padding)]);
}

/** A JPEG that begins with EXIF, XMP and a comment, each with the mark. */
export function jpegWithExif(jpeg: Buffer, sample: SampleExif): Buffer {
  const { mark = 'somewhere' } = sample;
  const segments = [
    segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif(sample)])),
    segment(0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/">${mark}</x:xmpmeta>`)),
    segment(0xfe, Buffer.from(mark)),
  ];
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** An APP or COM segment of a JPEG. */
export function segment(marker: number, content: Buffer): Buffer {
  const header = Buffer.from([0xff, marker, 0, 0]);
  header.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([header, content]);
}

/** A TIFF directory, with the offset of the next one. */
export function directory(entries: readonly Buffer[], next = 0): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(2), ...entries, Buffer.alloc(4)]);
  bytes.writeUInt16LE(entries.length);
  bytes.writeUInt32LE(next, bytes.length - 4);
  return bytes;
}

/** An entry of an EXIF directory. */
export function entry(tag: number, type: number, count: number, value: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt16LE(tag, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.writeUInt32LE(count, 4);
  bytes.writeUInt32LE(value, 8);
  return bytes;
}

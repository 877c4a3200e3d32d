interface Canvas {
  readonly width: number;
  readonly height: number;
}

/** A frame of a GIF: its position, and its one colour. */
export interface GifFrame extends Canvas {
  readonly left?: number;
  readonly top?: number;
  readonly colour: keyof typeof colours;
}

const colours = { red: 1, green: 2, blue: 3 };

/** A GIF with a screen of this size. Each frame is shown for a tenth of a second on top of those before it. */
export function gif(screen: Canvas, ...frames: readonly GifFrame[]): Buffer {
  const header = Buffer.concat([Buffer.from('GIF89a'), sides(screen), Buffer.from([0x86, 0, 0])]);
  const table = Buffer.alloc(3 * 128);
  for (const n of Object.values(colours)) table.writeUInt8(0xff, 3 * n + n - 1);
  return Buffer.concat([header, table, ...frames.map(gifFrame), Buffer.from(';')]);
}

// Codes for 7-bit samples have 8 bits if the table is cleared (0x80) before it grows (GIF89a appendix F):
// one byte per pixel.
function gifFrame({ left = 0, top = 0, width, height, colour }: GifFrame): Buffer {
  const control = Buffer.from([0x21, 0xf9, 4, 4, 10, 0, 0, 0]);
  const place = Buffer.concat([Buffer.from(','), sides({ width: left, height: top }), sides({ width, height })]);
  const block = Buffer.concat([Buffer.from([101, 0x80]), Buffer.alloc(100, colours[colour])]);
  const blocks = Buffer.alloc(Math.ceil((width * height) / 100) * block.length, block);
  return Buffer.concat([control, place, Buffer.from([0, 7]), blocks, Buffer.from([1, 0x81, 0])]);
}

function sides({ width, height }: Canvas): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16LE(width, 0);
  bytes.writeUInt16LE(height, 2);
  return bytes;
}

interface WebpAnimation {
  readonly canvas: Canvas;
  /** A WebP of one picture (lossy, without alpha). */
  readonly frame: Buffer;
  readonly frameSize: Canvas;
  readonly frames: number;
  readonly exif?: Buffer;
}

/** A WebP that repeats the same picture in the corner of its canvas (RFC 9649 section 2.7). */
export function animatedWebp({ canvas, frame, frameSize, frames, exif }: WebpAnimation): Buffer {
  const flags = 0x02 | (exif ? 0x08 : 0);
  const header = Buffer.concat([Buffer.from([flags, 0, 0, 0]), minusOne(canvas)]);
  const place = Buffer.concat([Buffer.alloc(6), minusOne(frameSize), Buffer.from([100, 0, 0, 0])]);
  const picture = riffChunk('ANMF', Buffer.concat([place, frame.subarray(12)]));
  const chunks = [
    riffChunk('VP8X', header),
    riffChunk('ANIM', Buffer.alloc(6)),
    ...Array.from({ length: frames }, () => picture),
    ...(exif ? [riffChunk('EXIF', exif)] : []),
  ];
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]));
}

function riffChunk(type: string, data: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, 0, 'latin1');
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat([header, data, Buffer.alloc(data.length % 2)]);
}

function minusOne({ width, height }: Canvas): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntLE(width - 1, 0, 3);
  bytes.writeUIntLE(height - 1, 3, 3);
  return bytes;
}

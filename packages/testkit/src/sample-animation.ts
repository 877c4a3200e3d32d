interface Canvas {
  readonly width: number;
  readonly height: number;
}

/** A GIF's screen of this size with one frame of one pixel. */
export function gifWithSmallFrame({ width, height }: Canvas): Buffer {
  const screen = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  return Buffer.concat([screen, Buffer.from('\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;', 'latin1')]);
}

interface WebpAnimation {
  readonly canvas: Canvas;
  /** A WebP of one picture (lossy, without alpha), and its size. */
  readonly frame: Buffer;
  readonly frameSize: Canvas;
  readonly frames: number;
  readonly exif?: Buffer;
}

/** A WebP that shows the same picture again and again in the corner of its canvas (RFC 9649 section 2.7). */
export function animatedWebp({ canvas, frame, frameSize, frames, exif }: WebpAnimation): Buffer {
  const flags = 0x02 | (exif ? 0x08 : 0);
  const header = Buffer.concat([Buffer.from([flags, 0, 0, 0]), lessOne(canvas)]);
  const place = Buffer.concat([Buffer.alloc(6), lessOne(frameSize), Buffer.from([100, 0, 0, 0])]);
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

function lessOne({ width, height }: Canvas): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntLE(width - 1, 0, 3);
  bytes.writeUIntLE(height - 1, 3, 3);
  return bytes;
}

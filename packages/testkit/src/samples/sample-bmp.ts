export interface BitmapSample {
  readonly width: number;
  readonly height: number;
  /** Bytes of the second header: 12 and 16 for OS/2, 40 for Windows 3, 108 and 124 for later versions. */
  readonly header: 12 | 16 | 40 | 52 | 56 | 64 | 108 | 124;
  readonly topDown?: boolean;
}

/** A bitmap of 24 bits per pixel. */
export function bitmap({ width, height, header: headerBytes, topDown = false }: BitmapSample): Buffer {
  const rowBytes = Math.ceil((width * 24) / 32) * 4;
  const pixelsAt = 14 + headerBytes;
  const bytes = Buffer.alloc(pixelsAt + rowBytes * height, 0x77);
  bytes.fill(0, 0, pixelsAt);
  bytes.write('BM', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(pixelsAt, 10);
  bytes.writeUInt32LE(headerBytes, 14);
  if (headerBytes === 12) {
    bytes.writeUInt16LE(width, 18);
    bytes.writeUInt16LE(height, 20);
    bytes.writeUInt16LE(1, 22);
    bytes.writeUInt16LE(24, 24);
  } else {
    bytes.writeInt32LE(width, 18);
    bytes.writeInt32LE(topDown ? -height : height, 22);
    bytes.writeUInt16LE(1, 26);
    bytes.writeUInt16LE(24, 28);
  }
  return bytes;
}

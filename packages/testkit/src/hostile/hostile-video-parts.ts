import { isoBox, u32 } from '../samples/sample-iso.ts';

/** A classic Mac OS alias as read by ffmpeg's mov_read_dref: no volume and file names, then an absolute path. */
export function alias(path: string): Buffer {
  const absolutePath = Buffer.from(path.length % 2 === 0 ? path : `${path}\0`);
  const length = Buffer.from([absolutePath.length >> 8, absolutePath.length & 255]);
  const end = Buffer.from([0xff, 0xff, 0, 0]);
  return isoBox('alis', u32(0), Buffer.alloc(150), Buffer.from([0, 2]), length, absolutePath, end);
}

export function reference(address: string): Buffer {
  const text = Buffer.from(`${address}\0`);
  return isoBox('rdrf', u32(0), Buffer.from('url '), u32(text.length), text);
}

export function nested(type: string, depth: number): Buffer {
  const boxes = Array.from({ length: depth }, (_, n) => Buffer.concat([u32((depth - n) * 8), Buffer.from(type)]));
  return Buffer.concat(boxes);
}

/** An AVI with another codec name. */
export function renamed(avi: Buffer, name: string): Buffer {
  for (let at = avi.indexOf('M8'); at >= 0 && at < 4096; at = avi.indexOf('M8', at + 4)) avi.write(name, at, 'latin1');
  return avi;
}

/** An AVI with another size in all headers. */
export function resized(avi: Buffer, width: number, height: number): Buffer {
  const main = avi.indexOf('avih') + 8;
  avi.writeInt32LE(width, main + 32);
  avi.writeInt32LE(height, main + 36);
  const format = avi.indexOf('strf') + 8;
  avi.writeInt32LE(width, format + 4);
  avi.writeInt32LE(height, format + 8);
  return avi;
}

// The ASF header: 16 bytes name, 8 length, 4 number of objects, 2 reserved.
export function withScript(wmv: Buffer, address: string): Buffer {
  const name = Buffer.from('301afb1e620bd011a39b00a0c90348f6', 'hex');
  const words = ['URL', address].map((word) => Buffer.from(word, 'utf16le'));
  const [type = Buffer.alloc(0), value = Buffer.alloc(0)] = words;
  const count = (length: number) => Buffer.from([length & 255, length >> 8]);
  const body = Buffer.concat([
    Buffer.alloc(16),
    count(1),
    count(1),
    count(type.length / 2),
    type,
    Buffer.alloc(4),
    count(0),
    count(value.length / 2),
    value,
  ]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(24 + body.length));
  const header = Buffer.from(wmv.subarray(0, 30));
  header.writeBigUInt64LE(header.readBigUInt64LE(16) + BigInt(24 + body.length), 16);
  header.writeUInt32LE(header.readUInt32LE(24) + 1, 24);
  return Buffer.concat([header, name, length, body, wmv.subarray(30)]);
}

/** A transport stream whose program table lists many streams with a packet each. */
export function transportStream(streams: number): Buffer {
  const packet = (pid: number, content: Buffer) =>
    Buffer.concat([
      Buffer.from([0x47, 0x40 | (pid >> 8), pid & 255, 0x10]),
      content,
      Buffer.alloc(Math.max(0, 184 - content.length), 0xff),
    ]).subarray(0, 188);
  const beginning = Buffer.from([0, 0, 1, 0xe0, 0, 0, 0x80, 0, 0, 0, 0, 1, 0xb3, 0x14, 0, 0xf0, 0x13]);
  const round = () => Array.from({ length: streams }, (_, n) => packet(0x100 + n, beginning));
  return Buffer.concat([...round(), ...round()]);
}

import { deflateSync } from 'node:zlib';
import { ftyp, isoBox, u32 } from './sample-iso.ts';

/** A video with a transformation matrix [a, b, c, d] in the header of its first track. */
export function withMatrix(video: Buffer, [a, b, c, d]: readonly [number, number, number, number]): Buffer {
  // The header ends with the matrix and the size.
  const header = video.indexOf('tkhd') - 4;
  const matrixAt = header + video.readUInt32BE(header) - 44;
  const edited = Buffer.from(video);
  [a, b, 0, c, d, 0].forEach((value, n) => {
    edited.writeInt32BE(value * 0x10000, matrixAt + n * 4);
  });
  return edited;
}

/** The matrices by which cameras record a clockwise rotation in degrees. */
export const turnedBy = { 90: [0, 1, -1, 0], 180: [-1, 0, 0, -1], 270: [0, -1, 1, 0] } as const;

/** The same video with other brands. */
export function withBrands(video: Buffer, major: string, ...compatible: readonly string[]): Buffer {
  const mine = ftyp(major, ...compatible);
  const space = video.readUInt32BE(0) - mine.length;
  if (space < 8) throw new RangeError('too many brands for this video');
  return Buffer.concat([mine, isoBox('free', Buffer.alloc(space - 8)), video.subarray(mine.length + space)]);
}

/** A video without brands, as before ISO: its first box is unknown. */
export function withoutBrands(video: Buffer): Buffer {
  const edited = Buffer.from(video);
  edited.write('free', 4, 'latin1');
  return edited;
}

/** A picture sequence without a picture directory: a video with a track of type `pict`. */
export function asPictureSequence(video: Buffer, major: string, ...compatible: readonly string[]): Buffer {
  const edited = withBrands(video, major, ...compatible);
  edited.write('pict', edited.indexOf('vide', edited.indexOf('hdlr')), 'latin1');
  return edited;
}

/** A video whose `mdat` has a 64-bit size, for which ffmpeg reserves space. */
export function withLongMdat(video: Buffer): Buffer {
  const edited = Buffer.from(video);
  const at = edited.indexOf('mdat') - 4;
  const size = edited.readUInt32BE(at);
  if (edited.toString('latin1', at - 4, at) !== 'free') throw new Error('no space before the pictures');
  edited.writeUInt32BE(1, at - 8);
  edited.write('mdat', at - 4, 'latin1');
  edited.writeBigUInt64BE(BigInt(size + 8), at);
  return edited;
}

/** A video whose index, at its end, is compressed as by QuickTime 3. */
export function withCompressedIndex(video: Buffer): Buffer {
  const at = video.lastIndexOf('moov') - 4;
  const moov = video.subarray(at);
  const compressed = isoBox(
    'cmov',
    isoBox('dcom', Buffer.from('zlib')),
    isoBox('cmvd', u32(moov.length), deflateSync(moov)),
  );
  return Buffer.concat([video.subarray(0, at), isoBox('moov', compressed)]);
}

/** A transport stream with 16 bytes of checksum after each packet. */
export function withChecksums(stream: Buffer): Buffer {
  const packets = Array.from({ length: stream.length / 188 }, (_, n) => stream.subarray(n * 188, (n + 1) * 188));
  return Buffer.concat(packets.flatMap((packet) => [packet, Buffer.alloc(16, 0xff)]));
}

/** A stream of packets without its first tenth, which contains its only early keyframe. */
export function cutBetweenKeyframes(stream: Buffer, packetBytes: number): Buffer {
  return stream.subarray(Math.ceil(stream.length / 10 / packetBytes) * packetBytes);
}

/** An Ogg that begins with a skeleton, which describes the other streams (Ogg Skeleton 3.0). */
export function withSkeleton(ogg: Buffer): Buffer {
  const head = Buffer.alloc(64);
  head.write('fishead\0\x03\0', 0, 'latin1');
  // Times are fractions: 0/1000.
  head.writeUInt32LE(1000, 20);
  head.writeUInt32LE(1000, 36);
  const page = Buffer.concat([Buffer.alloc(27), Buffer.from([head.length]), head]);
  page.write('OggS', 0, 'latin1');
  page[5] = 2;
  page.writeUInt32LE(0x7357, 14);
  page[26] = 1;
  page.writeUInt32LE(oggChecksum(page), 22);
  return Buffer.concat([page, ogg]);
}

// RFC 3533 section 6: a CRC without bit reflection.
function oggChecksum(page: Buffer): number {
  let crc = 0;
  for (const byte of page) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}

/** A video with the tag of another codec, for which ffmpeg has no encoder. */
export function withCodecTag(video: Buffer, tag: string, other: string): Buffer {
  return Buffer.from(video.toString('latin1').replaceAll(tag, other), 'latin1');
}

/** A Windows Media 8 video that claims to be Windows Media 9, whose sequence header has 4 bytes. */
export function asWindowsMedia9(video: Buffer): Buffer {
  const edited = withCodecTag(video, 'WMV2', 'WMV3');
  // BITMAPINFOHEADER: its size including extra data (44); the tag follows 16 bytes later.
  const at = edited.indexOf(Buffer.from([44, 0, 0, 0]));
  if (edited.toString('latin1', at + 16, at + 20) !== 'WMV3') throw new Error('no WMV3 header');
  Buffer.from([0x4f, 0xf9, 0x08, 0x01]).copy(edited, at + 40);
  return edited;
}

// Fields before the boxes within (ISO/IEC 14496-12 sections 8.5.2 and 12.1.3).
const fieldBytes: Readonly<Record<string, number>> = { stsd: 8, avc1: 78 };

/** An MP4 or QuickTime video, with its index at its end, and boxes added at the end of the first box at a path of types. */
export function withBoxesIn(video: Buffer, path: readonly string[], ...boxes: readonly Buffer[]): Buffer {
  const added = Buffer.concat(boxes);
  const sizes: number[] = [];
  let at = 0;
  let end = video.length;
  for (const type of path) {
    while (at < end && video.toString('latin1', at + 4, at + 8) !== type) at += video.readUInt32BE(at);
    if (at >= end) throw new Error(`no ${type}`);
    sizes.push(at);
    end = at + video.readUInt32BE(at);
    at += 8 + (fieldBytes[type] ?? 0);
  }
  const edited = Buffer.concat([video.subarray(0, end), added, video.subarray(end)]);
  for (const size of sizes) edited.writeUInt32BE(video.readUInt32BE(size) + added.length, size);
  return edited;
}

/** The path to the sample entry of H.264. */
export const h264Entry = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd', 'avc1'] as const;

/** An ICC profile of a screen with this text as its description, which says what made it and for whom (ICC.1 section 7.2). */
export function iccProfile(text: string): Buffer {
  const description = Buffer.concat([
    Buffer.from('desc'),
    u32(0, text.length + 1),
    Buffer.from(text),
    Buffer.alloc(79),
  ]);
  const tags = Buffer.concat([u32(1), Buffer.from('desc'), u32(144, description.length), description]);
  const header = Buffer.alloc(128);
  header.writeUInt32BE(header.length + tags.length, 0);
  header.writeUInt32BE(0x02100000, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  return Buffer.concat([header, tags]);
}

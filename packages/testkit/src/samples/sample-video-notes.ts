import { isoBox } from './sample-iso.ts';
import { h264Entry, iccProfile, withBoxesIn } from './sample-video-edits.ts';

/** ADTS sound with a note in a data stream element at the start of each frame (ISO/IEC 14496-3 table 4.10). */
export function withSoundNotes(adts: Buffer, note: string): Buffer {
  // Element type (4), instance (0) and alignment (none) have 8 bits, so the rest stays byte-aligned.
  const element = Buffer.concat([Buffer.from([0x80, note.length]), Buffer.from(note, 'latin1')]);
  const frames: Buffer[] = [];
  for (let at = 0, length = 0; at + 7 < adts.length; at += length) {
    length = (adts.readUInt32BE(at + 2) >> 5) & 0x1fff;
    const header = Buffer.from(adts.subarray(at, at + 7));
    header.writeUInt32BE(((header.readUInt32BE(2) & ~(0x1fff << 5)) | ((length + element.length) << 5)) >>> 0, 2);
    frames.push(header, element, adts.subarray(at + 7, at + length));
  }
  return Buffer.concat(frames);
}

/**
 * H.264 with a note in every non-picture location (ITU-T H.264 table 7-1 and annex D): SEI of registered and
 * unregistered user data, delimiters, a slice partition, a unit of unknown type, and after each parameter set.
 */
export function withUnitNotes(h264: Buffer, note: string): Buffer {
  const text = Buffer.from(note, 'latin1');
  const unit = (...bytes: readonly number[]) => Buffer.concat([Buffer.from([0, 0, 1, ...bytes]), text, endOfUnit]);
  const sei = (type: number, head: readonly number[]) => unit(6, type, head.length + text.length, ...head);
  // As for captions: country, provider and user identifier (ATSC A/53).
  const captions = sei(4, [0xb5, 0, 0x31, ...Buffer.from('GA94')]);
  const unregistered = sei(5, [...Buffer.alloc(16, 0x47)]);
  const others = [unit(4), unit(9, 0xf0), unit(30)];
  const isSlice = (first: number) => [1, 5].includes(first & 0x1f);
  const isParameterSet = (first: number) => [7, 8].includes(first & 0x1f);
  const noted = beforeUnits(h264, isSlice, Buffer.concat([captions, unregistered, ...others]));
  return afterUnits(noted, isParameterSet, Buffer.concat([text, endOfUnit]));
}

const endOfUnit = Buffer.from([0x80]);

/** MPEG-1 or MPEG-2 with a note in the user data of every picture (ISO/IEC 13818-2 section 6.2.2.2.2). */
export function withPictureNotes(mpeg: Buffer, note: string): Buffer {
  return beforeUnits(mpeg, (first) => first === 1, Buffer.concat([Buffer.from([0, 0, 1, 0xb2]), Buffer.from(note)]));
}

function beforeUnits(stream: Buffer, isTarget: (firstByte: number) => boolean, added: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = stream.indexOf(startCode); at >= 0; at = stream.indexOf(startCode, at + 3)) {
    if (!isTarget(stream[at + 3] ?? 0)) continue;
    parts.push(stream.subarray(from, at), added);
    from = at;
  }
  return Buffer.concat([...parts, stream.subarray(from)]);
}

function afterUnits(stream: Buffer, isTarget: (firstByte: number) => boolean, added: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = stream.indexOf(startCode); at >= 0; at = stream.indexOf(startCode, at + 3)) {
    if (!isTarget(stream[at + 3] ?? 0)) continue;
    let end = stream.indexOf(startCode, at + 3);
    while (stream[end - 1] === 0) end -= 1;
    parts.push(stream.subarray(from, end), added);
    from = end;
  }
  return Buffer.concat([...parts, stream.subarray(from)]);
}

const startCode = Buffer.from([0, 0, 1]);

/** A video of H.264 with notes in boxes of all kinds: a colour profile, and inside and after the index at its end. */
export function withBoxNotes(plain: Buffer, note: string): Buffer {
  const profile = isoBox('colr', Buffer.from('prof'), iccProfile(note));
  const video = withBoxesIn(plain, h264Entry, profile);
  const text = Buffer.from(note);
  const counted = Buffer.concat([Buffer.from([0, text.length, 0x15, 0xc7]), text]);
  const own = isoBox('uuid', Buffer.alloc(16, 7), text);
  const user = isoBox('udta', isoBox('\xa9xyz', counted), isoBox('\xa9cmt', counted), isoBox('XMP_', text));
  const about = isoBox('meta', Buffer.alloc(4), isoBox('xml ', Buffer.alloc(4), text));
  const at = video.lastIndexOf('moov') - 4;
  const moov = isoBox('moov', video.subarray(at + 8), user, about, own, isoBox('free', text));
  const behind = [own, about, user, isoBox('free', text), isoBox('skip', text), isoBox('wide', text)];
  return Buffer.concat([video.subarray(0, at), moov, ...behind]);
}

/** An AVI with a note in a padding chunk. */
export function withJunkNotes(avi: Buffer, note: string): Buffer {
  const text = Buffer.from(note.padEnd(note.length + (note.length % 2)));
  const chunk = Buffer.concat([Buffer.from('JUNK'), Buffer.alloc(4), text]);
  chunk.writeUInt32LE(text.length, 4);
  const video = Buffer.concat([avi, chunk]);
  video.writeUInt32LE(video.length - 8, 4);
  return video;
}

/** A program stream that ends with notes in padding and private packets (ISO/IEC 13818-1 table 2-22). */
export function withPacketNotes(stream: Buffer, note: string): Buffer {
  const packet = (id: number) =>
    Buffer.concat([Buffer.from([0, 0, 1, id, 0, note.length]), Buffer.from(note, 'latin1')]);
  return Buffer.concat([stream, packet(0xbe), packet(0xbf)]);
}

/** A Matroska video followed by a note in a Void element (RFC 8794 section 11.3.2). */
export function withVoidNotes(video: Buffer, note: string): Buffer {
  return Buffer.concat([video, Buffer.from([0xec, 0x80 | note.length]), Buffer.from(note, 'latin1')]);
}

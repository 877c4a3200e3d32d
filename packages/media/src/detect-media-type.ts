import { readDocType } from './input/ebml-elements.ts';
import { detectIsoType } from './iso-brands.ts';

/** The accepted types, with their IANA content type if one is registered. */
const types = {
  jpg: { kind: 'photo', contentType: 'image/jpeg' },
  png: { kind: 'photo', contentType: 'image/png' },
  gif: { kind: 'photo', contentType: 'image/gif' },
  webp: { kind: 'photo', contentType: 'image/webp' },
  avif: { kind: 'photo', contentType: 'image/avif' },
  heic: { kind: 'photo', contentType: 'image/heic' },
  tiff: { kind: 'photo', contentType: 'image/tiff' },
  bmp: { kind: 'photo', contentType: 'image/bmp' },
  mp4: { kind: 'video', contentType: 'video/mp4' },
  mov: { kind: 'video', contentType: 'video/quicktime' },
  '3gp': { kind: 'video', contentType: 'video/3gpp' },
  webm: { kind: 'video', contentType: 'video/webm' },
  mkv: { kind: 'video', contentType: 'video/matroska' },
  avi: { kind: 'video', contentType: 'video/x-msvideo' },
  mpg: { kind: 'video', contentType: 'video/mpeg' },
  ts: { kind: 'video', contentType: 'video/mp2t' },
  ogv: { kind: 'video', contentType: 'video/ogg' },
  flv: { kind: 'video', contentType: 'video/x-flv' },
  wmv: { kind: 'video', contentType: 'video/x-ms-wmv' },
} as const;

export type MediaType = keyof typeof types;
export type PhotoType = { [T in MediaType]: (typeof types)[T]['kind'] extends 'photo' ? T : never }[MediaType];
export type VideoType = Exclude<MediaType, PhotoType>;

export const mediaTypes = Object.keys(types) as readonly MediaType[];

export function isPhoto(type: MediaType): type is PhotoType {
  return types[type].kind === 'photo';
}

export function contentTypeOf(type: MediaType): string {
  return types[type].contentType;
}

/** How files of each type begin; the first match counts. A GIF or BMP may have the byte pattern of a transport stream too. */
const signatures: readonly (readonly [MediaType, (head: Buffer) => boolean])[] = [
  ['jpg', begins('\xff\xd8\xff')],
  ['png', begins('\x89PNG\r\n\x1a\n')],
  ['gif', begins('GIF87a')],
  ['gif', begins('GIF89a')],
  ['webp', isRiff('WEBP')],
  ['tiff', isTiff],
  ['bmp', isBitmap],
  ['webm', (head) => readDocType(head) === 'webm'],
  ['mkv', (head) => readDocType(head) === 'matroska'],
  ['avi', isRiff('AVI ')],
  ['mpg', begins('\0\0\x01\xba')],
  ['mpg', begins('\0\0\x01\xb3')],
  ['ts', isTransportStream],
  ['ogv', begins('OggS')],
  ['flv', begins('FLV\x01')],
  ['wmv', begins('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c')],
  ['ts', isCutTransportStream],
];

/**
 * Detects the type of media from its first bytes (up to 16 KiB), never from a name or Content-Type. Undefined if the type is
 * not accepted. Whether the rest is valid is up to the probe.
 */
export function detectMediaType(head: Buffer): MediaType | undefined {
  return signatures.find(([, matches]) => matches(head))?.[0] ?? detectIsoType(head);
}

function begins(signature: string): (head: Buffer) => boolean {
  const bytes = Buffer.from(signature, 'latin1');
  return (head) => head.subarray(0, bytes.length).equals(bytes);
}

function isRiff(form: string): (head: Buffer) => boolean {
  return (head) => begins('RIFF')(head) && head.toString('latin1', 8, 12) === form;
}

// Canon's CR2 is a TIFF with "CR" after its header. tiff-size.ts detects DNG, NEF and ARW.
function isTiff(head: Buffer): boolean {
  const classic = begins('II*\0')(head) || begins('MM\0*')(head);
  const big = begins('II+\0')(head) || begins('MM\0+')(head);
  return big || (classic && head.toString('latin1', 8, 10) !== 'CR');
}

// A text may begin with "BM"; the size of the second header has few values.
function isBitmap(head: Buffer): boolean {
  return begins('BM')(head) && head.length >= 26 && [12, 16, 40, 52, 56, 64, 108, 124].includes(head.readUInt32LE(14));
}

// Packets have 188 bytes, 192 with a timecode before each (cameras, discs), or 204 with a checksum after.
function isTransportStream(head: Buffer): boolean {
  const packets = (first: number, stride: number) => [0, 1, 2, 3].every((n) => head[first + n * stride] === 0x47);
  return packets(0, 188) || packets(4, 192) || packets(0, 204);
}

// A truncated recording may begin within a packet. So many sync bytes in a row do not occur by chance.
function isCutTransportStream(head: Buffer): boolean {
  const packets = [0, 1, 2, 3, 4, 5, 6, 7];
  const strides = [188, 192, 204];
  return strides.some((stride) =>
    Array.from({ length: stride }).some((_, first) => packets.every((n) => head[first + n * stride] === 0x47)),
  );
}

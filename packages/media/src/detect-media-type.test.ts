import { exif } from '@echodrop/testkit/samples/sample-exif';
import { ftyp, isoBox } from '@echodrop/testkit/samples/sample-iso';
import { describe, expect, test } from 'vitest';
import { contentTypeOf, detectMediaType, isPhoto, mediaTypes } from './detect-media-type.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const ebmlElement = (id: string, content: string) => `${id}${String.fromCharCode(0x80 + content.length)}${content}`;
const ebml = (docType: string) =>
  latin1(ebmlElement('\x1a\x45\xdf\xa3', `${ebmlElement('\x42\x86', '\x01')}${ebmlElement('\x42\x82', docType)}`));
const packets = (before: number, after: number) =>
  Buffer.concat(
    Array.from({ length: 5 }, () => Buffer.concat([Buffer.alloc(before), latin1('G'), Buffer.alloc(187 + after)])),
  );
const synced = (begin: string, ...beats: readonly number[]) => {
  const head = Buffer.concat([latin1(begin), Buffer.alloc(800 - begin.length)]);
  for (const at of beats) head.write('G', at);
  return head;
};

const accepted: readonly (readonly [string, string, Buffer])[] = [
  ['a JPEG', 'jpg', latin1('\xff\xd8\xff\xe0\0\x10JFIF')],
  ['a JPEG that is also a web page', 'jpg', latin1('\xff\xd8\xff\xe1\0\x40<html><script>')],
  ['a PNG', 'png', latin1('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
  ['a GIF87a', 'gif', latin1('GIF87a')],
  ['a GIF89a', 'gif', latin1('GIF89a')],
  ['a GIF with the sync bytes of a transport stream', 'gif', synced('GIF89a', 188, 376, 564)],
  ['a BMP with the sync bytes of a transport stream', 'bmp', synced('BM\0\0G\0\0\0\0\0\0\0\0\0\x28', 196, 388, 580)],
  ['a WebP', 'webp', latin1('RIFF\x24\0\0\0WEBPVP8 ')],
  ['a TIFF, little-endian', 'tiff', latin1('II*\0\x08\0\0\0\0\0')],
  ['a TIFF, big-endian', 'tiff', latin1('MM\0*\0\0\0\x08\0\0')],
  ['a BigTIFF', 'tiff', latin1('II+\0\x08\0\0\0')],
  ['EXIF data alone, which is a small TIFF', 'tiff', exif({})],
  ['a Windows bitmap', 'bmp', Buffer.concat([latin1('BM'), Buffer.alloc(12), latin1('\x28\0\0\0'), Buffer.alloc(36)])],
  ['an OS/2 bitmap', 'bmp', Buffer.concat([latin1('BM'), Buffer.alloc(12), latin1('\x0c\0\0\0'), Buffer.alloc(12)])],
  ['an AVIF', 'avif', ftyp('avif', 'mif1')],
  ['an AVIF sequence', 'avif', ftyp('avis', 'msf1')],
  ['an AVIF by its compatible brands', 'avif', ftyp('mif1', 'miaf', 'avif')],
  ['a HEIC', 'heic', ftyp('heic', 'mif1')],
  ['a HEIC of ten bits', 'heic', ftyp('heix', 'mif1')],
  ['a HEIC of several layers', 'heic', ftyp('heim', 'mif1')],
  ['a scalable HEIC', 'heic', ftyp('heis', 'mif1')],
  ['a HEIC sequence', 'heic', ftyp('hevc', 'msf1')],
  ['a HEIC sequence of ten bits', 'heic', ftyp('hevx', 'msf1')],
  ['a HEIC sequence of several layers', 'heic', ftyp('hevm', 'msf1')],
  ['a scalable HEIC sequence', 'heic', ftyp('hevs', 'msf1')],
  ['a HEIC sequence by its compatible brands', 'heic', ftyp('msf1', 'iso8', 'hevc')],
  ['an AVIF sequence by its compatible brands', 'avif', ftyp('msf1', 'miaf', 'avis')],
  ['a HEIC by its compatible brands', 'heic', ftyp('mif1', 'mif1', 'heic')],
  ['an MP4', 'mp4', ftyp('isom', 'iso2', 'avc1')],
  ['an MP4 of version 2', 'mp4', ftyp('mp42')],
  ['an M4V', 'mp4', ftyp('M4V ')],
  ['a Flash MP4', 'mp4', ftyp('f4v ')],
  ["an MP4 of a maker's own brand", 'mp4', ftyp('XAVC', 'mp42', 'iso2')],
  ['a fragmented MP4', 'mp4', ftyp('cmfc', 'iso6')],
  ['an MP4 of Smooth Streaming', 'mp4', ftyp('isml', 'piff')],
  ['an MP4 named by its codec', 'mp4', ftyp('hvc1')],
  ['an MP4 that is compatible with QuickTime', 'mp4', ftyp('mp42', 'qt  ')],
  ['a QuickTime video', 'mov', ftyp('qt  ')],
  ['a QuickTime video without brands', 'mov', isoBox('moov', Buffer.alloc(100))],
  ['a QuickTime video that begins with its pictures', 'mov', isoBox('mdat', Buffer.alloc(100))],
  ['a QuickTime video that begins with padding', 'mov', isoBox('wide', Buffer.alloc(8))],
  ['a 3GP', '3gp', ftyp('3gp4', 'isom')],
  ['a 3G2', '3gp', ftyp('3g2a')],
  ['a WebM', 'webm', ebml('webm')],
  ['a Matroska video', 'mkv', ebml('matroska')],
  ['an AVI', 'avi', latin1('RIFF\x24\0\0\0AVI LIST')],
  ['an MPEG program stream', 'mpg', latin1('\0\0\x01\xba\x44\0\x04')],
  ['an MPEG video stream', 'mpg', latin1('\0\0\x01\xb3\x14\0\xf0')],
  ['a transport stream', 'ts', packets(0, 0)],
  ["a camera's transport stream, with time codes", 'ts', packets(4, 0)],
  ['a transport stream with checksums', 'ts', packets(0, 16)],
  ['a transport stream that begins within a packet', 'ts', Buffer.concat([packets(0, 0), packets(0, 0)]).subarray(100)],
  ['an Ogg', 'ogv', latin1('OggS\0\x02')],
  ['an FLV', 'flv', latin1('FLV\x01\x05')],
  ['an ASF', 'wmv', latin1('\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c')],
];

const rejected: readonly (readonly [string, Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['zeros', Buffer.alloc(16 * 1024)],
  ['text', latin1('BMW and GIF and other words of a text')],
  ['SVG', latin1('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['SVG with an XML declaration', latin1('<?xml version="1.0"?><svg/>')],
  ['PDF', latin1('%PDF-1.7')],
  ['PostScript', latin1('%!PS-Adobe-3.0')],
  ["ImageMagick's drawings", latin1('push graphic-context')],
  ['JPEG XL', latin1('\xff\x0a\xff\x07')],
  ['JPEG XL in a container', latin1('\0\0\0\x0cJXL \r\n\x87\n')],
  ['JPEG 2000', latin1('\0\0\0\x0cjP  \r\n\x87\nftypjp2 ')],
  ['Motion JPEG 2000', ftyp('mjp2', 'mp42')],
  ["Canon's raw photos, new", ftyp('crx ', 'isom')],
  ["Canon's raw photos, old", latin1('II*\0\x10\0\0\0CR\x02\0')],
  ["Panasonic's raw photos", latin1('IIU\0\x08\0\0\0')],
  ["Olympus's raw photos", latin1('IIRO\x08\0\0\0')],
  ['a picture in a container without a codec brand', ftyp('mif1', 'miaf')],
  ['a video in a container with unknown brands', ftyp('zzzz', 'yyyy')],
  ['a fragment of a video without its beginning', isoBox('moof', Buffer.alloc(64))],
  ['Matroska of another kind', ebml('weba3d')],
  ['sound: MP3', latin1('ID3\x04')],
  ['sound: WAV', latin1('RIFF\x24\0\0\0WAVEfmt ')],
  ['sound: FLAC', latin1('fLaC')],
  ['an HLS playlist', latin1('#EXTM3U\n#EXT-X-VERSION:3\n')],
  ['a DASH manifest', latin1('<?xml version="1.0"?><MPD profiles="urn:mpeg:dash:profile:isoff-live:2011"/>')],
  ['a script of the concat demuxer', latin1("ffconcat version 1.0\nfile '/etc/passwd'\n")],
  ['a session description', latin1('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n')],
  ['subtitles', latin1('WEBVTT\n\n00:00.000 --> 00:01.000\nhello\n')],
  ['a zip', latin1('PK\x03\x04')],
  ['a program', latin1('\x7fELF')],
];

describe('the first bytes decide', () => {
  test.each(accepted)('%s is %s', (_, type, head) => {
    expect(detectMediaType(head)).toBe(type);
  });

  test.each(rejected)('rejects %s', (_, head) => {
    expect(detectMediaType(head)).toBeUndefined();
  });

  test('returns a type or undefined for any truncated beginning', () => {
    for (const [, , head] of accepted) {
      for (let length = 0; length < head.length; length++) detectMediaType(head.subarray(0, length));
    }
  });
});

test('every type is a photo or a video, and its content type says which', () => {
  for (const type of mediaTypes) expect(contentTypeOf(type)).toMatch(isPhoto(type) ? /^image\// : /^video\//);
});

import { ftyp, isoBox, u32 } from '../samples/sample-iso.ts';
import { sampleVideo } from '../samples/sample-media.ts';
import { moov, video } from './hostile-iso.ts';
import {
  attachment,
  docType,
  ebml,
  longElement,
  matroska,
  nestedAttachments,
  nestedTags,
  tracks,
} from './hostile-matroska.ts';
import { type HostileMedia, hostile } from './hostile-sample.ts';
import { nested, transportStream } from './hostile-video-parts.ts';

const MiB = 2 ** 20;

/** Videos with false lengths, and with nested or endless boxes. */
export const hostileVideoStructures: readonly HostileMedia[] = [
  hostile('an MP4 whose index claims 2 GiB', 'broken', () =>
    Buffer.concat([ftyp('isom'), u32(2 ** 31), Buffer.from('moov'), Buffer.alloc(64)]),
  ),
  hostile(
    'an MP4 whose index is 2 GiB',
    'too_costly',
    () => Buffer.concat([ftyp('isom'), u32(2 ** 31), Buffer.from('moov')]),
    2 ** 31,
  ),
  hostile(
    'an MP4 with an empty index of 60 MiB',
    'refused',
    () => Buffer.concat([ftyp('isom'), u32(60 * MiB), Buffer.from('moov')]),
    60 * MiB,
  ),
  hostile('an MP4 whose pictures exceed the file', 'broken', () =>
    Buffer.concat([ftyp('isom'), moov([{}]), u32(2 ** 31), Buffer.from('mdat')]),
  ),
  hostile('an MP4 with a box of 2^63 bytes', 'broken', () =>
    Buffer.concat([ftyp('isom'), u32(1), Buffer.from('free'), u32(2 ** 31, 0), moov([{}])]),
  ),
  hostile('an MP4 with a box shorter than its header', 'broken', () =>
    Buffer.concat([ftyp('isom'), u32(4), Buffer.from('free'), moov([{}])]),
  ),
  hostile('an MP4 with 100,000 boxes', 'too_costly', () =>
    Buffer.concat([ftyp('isom'), ...Array.from({ length: 100_000 }, () => isoBox('free')), moov([{}])]),
  ),
  hostile('an MP4 with 10,000 nested boxes', 'refused', () => Buffer.concat([ftyp('isom'), nested('moov', 10_000)])),
  hostile('an MP4 with 10,000 nested tracks', 'refused', () =>
    Buffer.concat([ftyp('isom'), isoBox('moov', nested('trak', 10_000))]),
  ),
  hostile('an MP4 that claims 2^32 - 1 missing times', 'refused', () =>
    video({ times: isoBox('stts', u32(0, 2 ** 32 - 1)) }),
  ),
  hostile('an MP4 with two million times', 'mp4 320x240', () =>
    video({ times: isoBox('stts', u32(0, 2_000_000), Buffer.alloc(16_000_000, 1)) }),
  ),
  hostile('a Matroska video with a header of 2^56 - 2 bytes', 'refused', () =>
    Buffer.concat([
      Buffer.from('1a45dfa301fffffffffffffe', 'hex'),
      ebml('4282', Buffer.from('matroska')),
      Buffer.alloc(64),
    ]),
  ),
  hostile('a Matroska video with 10,000 nested elements of unknown length', 'refused', () =>
    Buffer.concat([docType('matroska'), Buffer.from('18538067ff'.repeat(10_000), 'hex')]),
  ),
  hostile('a Matroska video with nested tags', 'refused', () =>
    matroska('matroska', ebml('1254c367', ebml('7373', nestedTags(1000)))),
  ),
  hostile(
    'a Matroska video whose attachments claim 2^56 - 2 bytes',
    'refused',
    () => Buffer.concat([matroska('matroska', longElement('1941a469', 2 ** 56 - 2)), tracks(1, 320, 240)]),
    4 * MiB,
  ),
  hostile(
    'a Matroska video with attachments of unknown length',
    'refused',
    () => Buffer.concat([matroska('matroska', Buffer.from('1941a469ff', 'hex')), tracks(1, 320, 240)]),
    4 * MiB,
  ),
  hostile('a Matroska video with 10,000 attachments beyond its first MiB', 'refused', () =>
    matroska(
      'matroska',
      attachment(2 * MiB),
      ...Array.from({ length: 10_000 }, () => attachment(100)),
      tracks(1, 320, 240),
    ),
  ),
  hostile('a Matroska video with 100,000 empty elements', 'refused', () =>
    matroska('matroska', ebml('ec', Buffer.alloc(2 * MiB)), Buffer.alloc(200_000, Buffer.from('ec80', 'hex'))),
  ),
  hostile(
    'a Matroska video with an empty track list of 60 MiB',
    'too_costly',
    () => Buffer.concat([docType('matroska'), Buffer.from('18538067ff', 'hex'), longElement('1654ae6b', 60 * MiB)]),
    60 * MiB,
  ),
  hostile('a Matroska video with 60 nested attachments', 'refused', () =>
    matroska('matroska', nestedAttachments(60), tracks(1, 320, 240)),
  ),
  hostile('a transport stream of 100 MiB without a keyframe', 'refused', () => transportStream(1), 100 * MiB),
  hostile('an AVI with 10,000 nested lists', 'refused', () =>
    Buffer.from(`RIFF\xff\xff\xff\x7fAVI ${'LIST\xff\xff\xff\x7fhdrl'.repeat(10_000)}`, 'latin1'),
  ),
  hostile('a WMV whose header claims 2^64 - 1 bytes', 'wmv 320x240', async () =>
    (await sampleVideo('wmv', { width: 320, height: 240 })).fill(0xff, 16, 24),
  ),
  hostile('an FLV whose content begins at 4 GiB', 'refused', () =>
    Buffer.from('FLV\x01\x05\xff\xff\xff\xff\0\0\0\0', 'latin1'),
  ),
  hostile('an Ogg with an endless page', 'refused', () =>
    Buffer.from(`OggS\0\x02${'\0'.repeat(20)}\xff${'\xff'.repeat(4000)}`, 'latin1'),
  ),
  hostile('a transport stream of null packets', 'refused', () =>
    Buffer.alloc(188 * 5000, Buffer.concat([Buffer.from([0x47, 0x1f, 0xff, 0x10]), Buffer.alloc(184, 0xff)])),
  ),
  hostile('MPEG with only start codes', 'refused', () => Buffer.alloc(MiB, Buffer.from([0, 0, 1, 0xba]))),
  hostile('the beginning of a video followed by 100 MiB of zeros', 'refused', () => Buffer.from('OggS'), 100 * MiB),
];

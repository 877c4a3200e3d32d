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
import type { HostileMedia } from './hostile-sample.ts';
import { nested, transportStream } from './hostile-video-parts.ts';

const MiB = 2 ** 20;

/** Videos with false lengths, and with boxes that nest or never end. */
export const hostileVideoStructures: readonly HostileMedia[] = [
  {
    name: 'an MP4 whose index says 2 GiB',
    found: 'broken',
    make: () => Buffer.concat([ftyp('isom'), u32(2 ** 31), Buffer.from('moov'), Buffer.alloc(64)]),
  },
  {
    name: 'an MP4 whose index is 2 GiB',
    found: 'too_costly',
    make: () => Buffer.concat([ftyp('isom'), u32(2 ** 31), Buffer.from('moov')]),
    zeros: 2 ** 31,
  },
  {
    name: 'an MP4 whose index is 60 MiB of nothing',
    found: 'refused',
    make: () => Buffer.concat([ftyp('isom'), u32(60 * MiB), Buffer.from('moov')]),
    zeros: 60 * MiB,
  },
  {
    name: 'an MP4 whose pictures end behind its end',
    found: 'broken',
    make: () => Buffer.concat([ftyp('isom'), moov([{}]), u32(2 ** 31), Buffer.from('mdat')]),
  },
  {
    name: 'an MP4 of a box of 2^63',
    found: 'broken',
    make: () => Buffer.concat([ftyp('isom'), u32(1), Buffer.from('free'), u32(2 ** 31, 0), moov([{}])]),
  },
  {
    name: 'an MP4 of a box of no length',
    found: 'broken',
    make: () => Buffer.concat([ftyp('isom'), u32(4), Buffer.from('free'), moov([{}])]),
  },
  {
    name: 'an MP4 of a hundred thousand boxes',
    found: 'too_costly',
    make: () => Buffer.concat([ftyp('isom'), ...Array.from({ length: 100_000 }, () => isoBox('free')), moov([{}])]),
  },
  {
    name: 'an MP4 whose boxes nest ten thousandfold',
    found: 'refused',
    make: () => Buffer.concat([ftyp('isom'), nested('moov', 10_000)]),
  },
  {
    name: 'an MP4 whose tracks nest ten thousandfold',
    found: 'refused',
    make: () => Buffer.concat([ftyp('isom'), isoBox('moov', nested('trak', 10_000))]),
  },
  {
    name: 'an MP4 of four billion times that are not there',
    found: 'refused',
    make: () => video({ times: isoBox('stts', u32(0, 2 ** 32 - 1)) }),
  },
  {
    name: 'an MP4 of two million times',
    found: 'mp4 320x240',
    make: () => video({ times: isoBox('stts', u32(0, 2_000_000), Buffer.alloc(16_000_000, 1)) }),
  },
  {
    name: 'a Matroska video of a header of 2^56 - 2',
    found: 'refused',
    make: () =>
      Buffer.concat([
        Buffer.from('1a45dfa301fffffffffffffe', 'hex'),
        ebml('4282', Buffer.from('matroska')),
        Buffer.alloc(64),
      ]),
  },
  {
    name: 'a Matroska video whose unknown lengths nest ten thousandfold',
    found: 'refused',
    make: () => Buffer.concat([docType('matroska'), Buffer.from('18538067ff'.repeat(10_000), 'hex')]),
  },
  {
    name: 'a Matroska video of tags in tags',
    found: 'refused',
    make: () => matroska('matroska', ebml('1254c367', ebml('7373', nestedTags(1000)))),
  },
  {
    name: 'a Matroska video whose attachments say 2^56 - 2',
    found: 'refused',
    make: () => Buffer.concat([matroska('matroska', longElement('1941a469', 2 ** 56 - 2)), tracks(1, 320, 240)]),
    zeros: 4 * MiB,
  },
  {
    name: 'a Matroska video whose attachments do not say how long they are',
    found: 'refused',
    make: () => Buffer.concat([matroska('matroska', Buffer.from('1941a469ff', 'hex')), tracks(1, 320, 240)]),
    zeros: 4 * MiB,
  },
  {
    name: 'a Matroska video of ten thousand attachments beyond its first MiB',
    found: 'refused',
    make: () =>
      matroska(
        'matroska',
        attachment(2 * MiB),
        ...Array.from({ length: 10_000 }, () => attachment(100)),
        tracks(1, 320, 240),
      ),
  },
  {
    name: 'a Matroska video of a hundred thousand empty elements',
    found: 'refused',
    make: () =>
      matroska('matroska', ebml('ec', Buffer.alloc(2 * MiB)), Buffer.alloc(200_000, Buffer.from('ec80', 'hex'))),
  },
  {
    name: 'a Matroska video whose tracks are 60 MiB of nothing',
    found: 'too_costly',
    make: () =>
      Buffer.concat([docType('matroska'), Buffer.from('18538067ff', 'hex'), longElement('1654ae6b', 60 * MiB)]),
    zeros: 60 * MiB,
  },
  {
    name: 'a Matroska video of 60 attachments in attachments',
    found: 'refused',
    make: () => matroska('matroska', nestedAttachments(60), tracks(1, 320, 240)),
  },
  {
    name: 'a transport stream of 100 MiB without a keyframe',
    found: 'refused',
    make: () => transportStream(1),
    zeros: 100 * MiB,
  },
  {
    name: 'an AVI whose lists nest ten thousandfold',
    found: 'refused',
    make: () => Buffer.from(`RIFF\xff\xff\xff\x7fAVI ${'LIST\xff\xff\xff\x7fhdrl'.repeat(10_000)}`, 'latin1'),
  },
  {
    name: 'a WMV whose header says 2^64 - 1',
    found: 'wmv 320x240',
    make: async () => (await sampleVideo('wmv', { width: 320, height: 240 })).fill(0xff, 16, 24),
  },
  {
    name: 'an FLV that begins 4 GiB later',
    found: 'refused',
    make: () => Buffer.from('FLV\x01\x05\xff\xff\xff\xff\0\0\0\0', 'latin1'),
  },
  {
    name: 'an Ogg whose page never ends',
    found: 'refused',
    make: () => Buffer.from(`OggS\0\x02${'\0'.repeat(20)}\xff${'\xff'.repeat(4000)}`, 'latin1'),
  },
  {
    name: 'a transport stream of nothing',
    found: 'refused',
    make: () =>
      Buffer.alloc(188 * 5000, Buffer.concat([Buffer.from([0x47, 0x1f, 0xff, 0x10]), Buffer.alloc(184, 0xff)])),
  },
  {
    name: 'MPEG of nothing but start codes',
    found: 'refused',
    make: () => Buffer.alloc(MiB, Buffer.from([0, 0, 1, 0xba])),
  },
  {
    name: 'a video of 100 MiB of zeros behind a beginning',
    found: 'refused',
    make: () => Buffer.from('OggS'),
    zeros: 100 * MiB,
  },
];

import { ftyp, isoBox } from '../samples/sample-iso.ts';
import { made, sampleVideo } from '../samples/sample-media.ts';
import { moov, u32, video } from './hostile-iso.ts';
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
import type { HostileMedia } from './hostile-media.ts';
import { alias, nested, reference, renamed, resized, transportStream, withScript } from './hostile-video-parts.ts';

const size = { width: 320, height: 240 };
const MiB = 2 ** 20;

/** Videos that refer elsewhere, claim what is not there, are coded in ways that are not let in, or lead in circles. */
export const hostileVideos: readonly HostileMedia[] = [
  // References to other files and addresses: whatever the video is taken for, they are not followed.
  {
    name: 'an MP4 whose pictures lie at an address',
    found: 'mp4 320x240',
    make: ({ address }) => video({ reference: isoBox('url ', u32(0), Buffer.from(`${address}/dref.mp4\0`)) }),
  },
  {
    name: 'an MP4 whose pictures lie in another file',
    found: 'mp4 320x240',
    make: ({ file }) => video({ reference: isoBox('url ', u32(0), Buffer.from(`file://${file}\0`)) }),
  },
  {
    name: 'a QuickTime video whose pictures lie in another file',
    found: 'mov 320x240',
    make: ({ file }) => video({ reference: alias(file) }, 'qt  '),
  },
  {
    name: 'a QuickTime video that is a reference to an address',
    found: 'refused',
    make: ({ address }) =>
      Buffer.concat([ftyp('qt  '), isoBox('moov', isoBox('rmra', isoBox('rmda', reference(`${address}/rmra.mov`))))]),
  },
  {
    name: 'a QuickTime video with references beside its track',
    found: 'mov 320x240',
    make: ({ address }) =>
      Buffer.concat([
        ftyp('qt  '),
        moov([{}], isoBox('rmra', isoBox('rmda', reference(`${address}/x.mov`)))),
        isoBox('mdat'),
      ]),
  },
  {
    name: 'a Matroska video that goes on in another file',
    found: 'refused',
    make: ({ file }) =>
      matroska('matroska', ebml('1549a966', ebml('3e83bb', Buffer.from(file)), ebml('3eb923', Buffer.alloc(16, 7)))),
  },
  {
    name: 'a Matroska file of nothing but an attached playlist',
    found: 'refused',
    make: ({ address }) =>
      matroska(
        'matroska',
        ebml(
          '1941a469',
          ebml(
            '61a7',
            ebml('466e', Buffer.from('a.m3u8')),
            ebml('4660', Buffer.from('application/x-mpegurl')),
            ebml('465c', Buffer.from(`#EXTM3U\n${address}/attached.ts\n`)),
            ebml('46ae', Buffer.from([1])),
          ),
        ),
      ),
  },
  {
    name: 'a WMV with a script that opens an address',
    found: 'wmv 320x240',
    make: async ({ address }) => withScript(await sampleVideo('wmv', size), `${address}/asf`),
  },
  {
    name: 'an AVI with another file in its name',
    found: 'avi 320x240',
    make: async ({ file }) => sampleVideo('avi', { ...size, options: ['-metadata', `title=file:${file}`] }),
  },
  {
    name: 'an FLV whose notes hold an address',
    found: 'flv 320x240',
    make: ({ address }) => sampleVideo('flv', { ...size, options: ['-metadata', `purl=${address}/flv`] }),
  },
  {
    name: 'an Ogg of nothing but a skeleton',
    found: 'refused',
    make: () =>
      Buffer.concat([
        Buffer.from('OggS\0\x02', 'latin1'),
        Buffer.alloc(20),
        Buffer.from('\x01\x40fishead\0\x03\0\0\0', 'latin1'),
        Buffer.alloc(52),
      ]),
  },

  // Codecs outside the list.
  ...(['avi', 'mov', 'matroska'] as const).map((format) => ({
    name: `MagicYUV in ${format}`,
    found: 'codec',
    make: () => coded('magicyuv', 'gbrp', format),
  })),
  { name: 'Ut Video in AVI', found: 'codec', make: () => coded('utvideo', 'yuv420p', 'avi') },
  {
    name: 'a codec of an unheard-of name in AVI',
    found: 'codec',
    make: async () => renamed(await coded('magicyuv', 'gbrp', 'avi'), 'ZZZZ'),
  },
  { name: 'lossless Lagarith in MP4', found: 'codec', make: () => video({ codec: 'LAGS' }) },
  { name: 'a picture of TIFF in MOV', found: 'codec', make: () => coded('targa', 'bgr24', 'mov') },
  { name: 'EXR in MOV', found: 'codec', make: () => video({ codec: 'EXR ' }, 'qt  ') },
  { name: 'Hap in MOV', found: 'codec', make: () => video({ codec: 'Hap1' }, 'qt  ') },
  {
    name: 'MagicYUV behind the track that is shown',
    found: 'codec',
    make: () =>
      made([
        ...['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=5:duration=1', '-map', '0:v', '-map', '0:v'],
        ...['-c:v:0', 'mpeg4', '-c:v:1', 'magicyuv', '-pix_fmt:v:1', 'gbrp', '-f', 'matroska'],
      ]),
  },

  // Sizes.
  { name: 'an MP4 of 16000 x 16000', found: 'too_many_pixels', make: () => video({ width: 16_000, height: 16_000 }) },
  { name: 'an MP4 of 65535 x 65535', found: 'refused', make: () => video({ width: 65_535, height: 65_535 }) },
  { name: 'an MP4 of no pixels', found: 'broken', make: () => video({ width: 0, height: 0 }) },
  { name: 'a WebM of 2^31 x 2^31', found: 'refused', make: () => matroska('webm', tracks(1, 2 ** 31, 2 ** 31)) },
  { name: 'a WebM of no pixels', found: 'refused', make: () => matroska('webm', tracks(1, 0, 0)) },
  {
    name: 'an AVI of -2^31 x 2^31 - 1, whose pictures know better',
    found: 'avi 320x240',
    make: async () => resized(await sampleVideo('avi', size), -(2 ** 31), 2 ** 31 - 1),
  },

  // A thousand tracks.
  {
    name: 'a video of 100 honest tracks',
    found: 'refused',
    make: () =>
      made([
        ...['-f', 'lavfi', '-i', 'testsrc2=size=16x16:rate=5:duration=0.2'],
        ...Array.from({ length: 100 }, () => ['-map', '0:v']).flat(),
        ...['-c:v', 'mpeg4', '-threads', '1', '-f', 'matroska'],
      ]),
  },
  {
    name: 'an MP4 of 1000 tracks',
    found: 'refused',
    make: () =>
      Buffer.concat([ftyp('isom'), moov(Array.from({ length: 1000 }, () => ({}))), isoBox('mdat', Buffer.alloc(64))]),
  },
  {
    name: 'a Matroska video of 1000 tracks',
    found: 'refused',
    make: () => matroska('matroska', tracks(1000, 320, 240)),
  },
  { name: 'a transport stream of 1000 streams', found: 'refused', make: () => transportStream(1000) },

  // Lengths that lie, boxes that nest.
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
    make: async () => (await sampleVideo('wmv', size)).fill(0xff, 16, 24),
  },
  {
    name: 'an FLV that begins 4 GiB later',
    found: 'refused',
    make: () => Buffer.from('FLV\x01\x05\xff\xff\xff\xff\0\0\0\0', 'latin1'),
  },
  {
    name: 'an Ogg whose page goes on for ever',
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

  // Sound and covers are no video.
  { name: 'a sound in MP4', found: 'no_picture', make: () => made([...tone, '-c:a', 'aac', '-f', 'mp4']) },
];

const tone = ['-f', 'lavfi', '-i', 'sine=duration=1'];

function coded(codec: string, pixels: string, format: string): Promise<Buffer> {
  return made([
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=320x240:rate=5:duration=1',
    '-c:v',
    codec,
    '-pix_fmt',
    pixels,
    '-f',
    format,
  ]);
}

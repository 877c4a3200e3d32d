import { ftyp, isoBox, u32 } from '../samples/sample-iso.ts';
import { sampleVideo } from '../samples/sample-media.ts';
import { moov, video } from './hostile-iso.ts';
import { ebml, matroska } from './hostile-matroska.ts';
import type { HostileMedia } from './hostile-sample.ts';
import { alias, reference, withScript } from './hostile-video-parts.ts';

const size = { width: 320, height: 240 };

/** Videos that refer to other files and addresses, which must not be followed. */
export const hostileVideoReferences: readonly HostileMedia[] = [
  {
    name: 'an MP4 with its pictures at an address',
    found: 'mp4 320x240',
    make: ({ address }) => video({ reference: isoBox('url ', u32(0), Buffer.from(`${address}/dref.mp4\0`)) }),
  },
  {
    name: 'an MP4 with its pictures in another file',
    found: 'mp4 320x240',
    make: ({ file }) => video({ reference: isoBox('url ', u32(0), Buffer.from(`file://${file}\0`)) }),
  },
  {
    name: 'a QuickTime video with its pictures in another file',
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
    name: 'a Matroska video that continues in another file',
    found: 'refused',
    make: ({ file }) =>
      matroska('matroska', ebml('1549a966', ebml('3e83bb', Buffer.from(file)), ebml('3eb923', Buffer.alloc(16, 7)))),
  },
  {
    name: 'a Matroska file with only an attached playlist',
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
    name: 'an FLV with an address in its metadata',
    found: 'flv 320x240',
    make: ({ address }) => sampleVideo('flv', { ...size, options: ['-metadata', `purl=${address}/flv`] }),
  },
  {
    name: 'an Ogg with only a skeleton',
    found: 'refused',
    make: () =>
      Buffer.concat([
        Buffer.from('OggS\0\x02', 'latin1'),
        Buffer.alloc(20),
        Buffer.from('\x01\x40fishead\0\x03\0\0\0', 'latin1'),
        Buffer.alloc(52),
      ]),
  },
];

import { ftyp, isoBox, u32 } from '../samples/sample-iso.ts';
import { sampleVideo } from '../samples/sample-media.ts';
import { moov, video } from './hostile-iso.ts';
import { ebml, matroska } from './hostile-matroska.ts';
import { type HostileMedia, hostile } from './hostile-sample.ts';
import { alias, reference, withScript } from './hostile-video-parts.ts';

const size = { width: 320, height: 240 };

/** Videos that refer to other files and addresses, which must not be followed. */
export const hostileVideoReferences: readonly HostileMedia[] = [
  hostile('an MP4 with its pictures at an address', 'mp4 320x240', ({ address }) =>
    video({ reference: isoBox('url ', u32(0), Buffer.from(`${address}/dref.mp4\0`)) }),
  ),
  hostile('an MP4 with its pictures in another file', 'mp4 320x240', ({ file }) =>
    video({ reference: isoBox('url ', u32(0), Buffer.from(`file://${file}\0`)) }),
  ),
  hostile('a QuickTime video with its pictures in another file', 'mov 320x240', ({ file }) =>
    video({ reference: alias(file) }, 'qt  '),
  ),
  hostile('a QuickTime video that is a reference to an address', 'refused', ({ address }) =>
    Buffer.concat([ftyp('qt  '), isoBox('moov', isoBox('rmra', isoBox('rmda', reference(`${address}/rmra.mov`))))]),
  ),
  hostile('a QuickTime video with references beside its track', 'mov 320x240', ({ address }) =>
    Buffer.concat([
      ftyp('qt  '),
      moov([{}], isoBox('rmra', isoBox('rmda', reference(`${address}/x.mov`)))),
      isoBox('mdat'),
    ]),
  ),
  hostile('a Matroska video that continues in another file', 'refused', ({ file }) =>
    matroska('matroska', ebml('1549a966', ebml('3e83bb', Buffer.from(file)), ebml('3eb923', Buffer.alloc(16, 7)))),
  ),
  hostile('a Matroska file with only an attached playlist', 'refused', ({ address }) =>
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
  ),
  hostile('a WMV with a script that opens an address', 'wmv 320x240', async ({ address }) =>
    withScript(await sampleVideo('wmv', size), `${address}/asf`),
  ),
  hostile('an AVI with another file in its name', 'avi 320x240', async ({ file }) =>
    sampleVideo('avi', { ...size, options: ['-metadata', `title=file:${file}`] }),
  ),
  hostile('an FLV with an address in its metadata', 'flv 320x240', ({ address }) =>
    sampleVideo('flv', { ...size, options: ['-metadata', `purl=${address}/flv`] }),
  ),
  hostile('an Ogg with only a skeleton', 'refused', () =>
    Buffer.concat([
      Buffer.from('OggS\0\x02', 'latin1'),
      Buffer.alloc(20),
      Buffer.from('\x01\x40fishead\0\x03\0\0\0', 'latin1'),
      Buffer.alloc(52),
    ]),
  ),
];

import { ftyp, isoBox } from '../samples/sample-iso.ts';
import { made, sampleVideo } from '../samples/sample-media.ts';
import { moov, video } from './hostile-iso.ts';
import { matroska, tracks } from './hostile-matroska.ts';
import { type HostileMedia, hostile } from './hostile-sample.ts';
import { renamed, resized, transportStream } from './hostile-video-parts.ts';

/** Videos with a forbidden codec, a false or excessive size or number of tracks, or no picture. */
export const hostileVideoCodings: readonly HostileMedia[] = [
  // Forbidden codecs.
  ...(['avi', 'mov', 'matroska'] as const).map((format) =>
    hostile(`MagicYUV in ${format}`, 'codec', () => coded('magicyuv', 'gbrp', format)),
  ),
  hostile('Ut Video in AVI', 'codec', () => coded('utvideo', 'yuv420p', 'avi')),
  hostile('an unknown codec in AVI', 'codec', async () => renamed(await coded('magicyuv', 'gbrp', 'avi'), 'ZZZZ')),
  hostile('lossless Lagarith in MP4', 'codec', () => video({ codec: 'LAGS' })),
  hostile('Targa in MOV', 'codec', () => coded('targa', 'bgr24', 'mov')),
  hostile('EXR in MOV', 'codec', () => video({ codec: 'EXR ' }, 'qt  ')),
  hostile('Hap in MOV', 'codec', () => video({ codec: 'Hap1' }, 'qt  ')),
  hostile('MagicYUV in a second track', 'codec', () =>
    made([
      ...[...clip, '-map', '0:v', '-map', '0:v'],
      ...['-c:v:0', 'mpeg4', '-c:v:1', 'magicyuv', '-pix_fmt:v:1', 'gbrp', '-f', 'matroska'],
    ]),
  ),

  hostile('an MP4 of 16000 x 16000', 'too_many_pixels', () => video({ width: 16_000, height: 16_000 })),
  hostile('an MP4 of 65535 x 65535', 'refused', () => video({ width: 65_535, height: 65_535 })),
  hostile('an MP4 without pixels', 'broken', () => video({ width: 0, height: 0 })),
  hostile('a WebM of 2^31 x 2^31', 'refused', () => matroska('webm', tracks(1, 2 ** 31, 2 ** 31))),
  hostile('a WebM without pixels', 'refused', () => matroska('webm', tracks(1, 0, 0))),
  hostile('an AVI that falsely claims -2^31 x 2^31 - 1', 'avi 320x240', async () =>
    resized(await sampleVideo('avi', { width: 320, height: 240 }), -(2 ** 31), 2 ** 31 - 1),
  ),
  hostile('a video of 100 valid tracks', 'refused', () =>
    made([
      ...['-f', 'lavfi', '-i', 'testsrc2=size=16x16:rate=5:duration=0.2'],
      ...Array.from({ length: 100 }, () => ['-map', '0:v']).flat(),
      ...['-c:v', 'mpeg4', '-threads', '1', '-f', 'matroska'],
    ]),
  ),
  hostile('an MP4 of 1000 tracks', 'refused', () =>
    Buffer.concat([ftyp('isom'), moov(Array.from({ length: 1000 }, () => ({}))), isoBox('mdat', Buffer.alloc(64))]),
  ),
  hostile('a Matroska video of 1000 tracks', 'refused', () => matroska('matroska', tracks(1000, 320, 240))),
  hostile('a transport stream of 1000 streams', 'refused', () => transportStream(1000)),

  // Sound and cover pictures are not a video.
  hostile('sound in MP4', 'no_picture', () => made([...tone, '-c:a', 'aac', '-f', 'mp4'])),
];

const clip = ['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=5:duration=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=duration=1'];

function coded(codec: string, pixels: string, format: string): Promise<Buffer> {
  return made([...clip, '-c:v', codec, '-pix_fmt', pixels, '-f', format]);
}

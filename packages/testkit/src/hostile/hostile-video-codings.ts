import { ftyp, isoBox } from '../samples/sample-iso.ts';
import { made, sampleVideo } from '../samples/sample-media.ts';
import { moov, video } from './hostile-iso.ts';
import { matroska, tracks } from './hostile-matroska.ts';
import type { HostileMedia } from './hostile-sample.ts';
import { renamed, resized, transportStream } from './hostile-video-parts.ts';

/** Videos with a forbidden codec, a false or excessive size or number of tracks, or no picture. */
export const hostileVideoCodings: readonly HostileMedia[] = [
  // Forbidden codecs.
  ...(['avi', 'mov', 'matroska'] as const).map((format) => ({
    name: `MagicYUV in ${format}`,
    found: 'codec',
    make: () => coded('magicyuv', 'gbrp', format),
  })),
  { name: 'Ut Video in AVI', found: 'codec', make: () => coded('utvideo', 'yuv420p', 'avi') },
  {
    name: 'an unknown codec in AVI',
    found: 'codec',
    make: async () => renamed(await coded('magicyuv', 'gbrp', 'avi'), 'ZZZZ'),
  },
  { name: 'lossless Lagarith in MP4', found: 'codec', make: () => video({ codec: 'LAGS' }) },
  { name: 'Targa in MOV', found: 'codec', make: () => coded('targa', 'bgr24', 'mov') },
  { name: 'EXR in MOV', found: 'codec', make: () => video({ codec: 'EXR ' }, 'qt  ') },
  { name: 'Hap in MOV', found: 'codec', make: () => video({ codec: 'Hap1' }, 'qt  ') },
  {
    name: 'MagicYUV in a second track',
    found: 'codec',
    make: () =>
      made([
        ...[...clip, '-map', '0:v', '-map', '0:v'],
        ...['-c:v:0', 'mpeg4', '-c:v:1', 'magicyuv', '-pix_fmt:v:1', 'gbrp', '-f', 'matroska'],
      ]),
  },

  { name: 'an MP4 of 16000 x 16000', found: 'too_many_pixels', make: () => video({ width: 16_000, height: 16_000 }) },
  { name: 'an MP4 of 65535 x 65535', found: 'refused', make: () => video({ width: 65_535, height: 65_535 }) },
  { name: 'an MP4 without pixels', found: 'broken', make: () => video({ width: 0, height: 0 }) },
  { name: 'a WebM of 2^31 x 2^31', found: 'refused', make: () => matroska('webm', tracks(1, 2 ** 31, 2 ** 31)) },
  { name: 'a WebM without pixels', found: 'refused', make: () => matroska('webm', tracks(1, 0, 0)) },
  {
    name: 'an AVI that falsely claims -2^31 x 2^31 - 1',
    found: 'avi 320x240',
    make: async () => resized(await sampleVideo('avi', { width: 320, height: 240 }), -(2 ** 31), 2 ** 31 - 1),
  },
  {
    name: 'a video of 100 valid tracks',
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

  // Sound and cover pictures are not a video.
  { name: 'sound in MP4', found: 'no_picture', make: () => made([...tone, '-c:a', 'aac', '-f', 'mp4']) },
];

const clip = ['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=5:duration=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=duration=1'];

function coded(codec: string, pixels: string, format: string): Promise<Buffer> {
  return made([...clip, '-c:v', codec, '-pix_fmt', pixels, '-f', format]);
}

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { ftyp, isoBox } from '@echodrop/testkit/sample-iso';
import { made, sampleFilm } from '@echodrop/testkit/sample-media';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeMedia } from './probe.ts';

let scratchDir: string;
beforeAll(async () => {
  scratchDir = await mkdtemp(join(tmpdir(), 'probe-video-'));
});
afterAll(() => rm(scratchDir, { recursive: true }));

const look = (source: CountedSource) =>
  probeMedia(source, { scratchDir, maxPixels: 100_000_000, signal: AbortSignal.timeout(15_000) });
const probe = (bytes: Buffer) => look(new CountedSource(bytes));
const video = (type: string, width: number, height: number) => ({
  outcome: 'media',
  kind: 'video',
  type,
  width,
  height,
});
const small = { width: 160, height: 120 };
const squeezed = ['-vf', 'setsar=4/3'];

describe('every type of film tells its displayed size', () => {
  test.each<[string, ReturnType<typeof video>, () => Promise<Buffer>]>([
    ['MP4', video('mp4', 160, 120), () => sampleFilm('mp4', small)],
    [
      'MP4, its index first',
      video('mp4', 160, 120),
      () => sampleFilm('mp4', { ...small, options: ['-movflags', '+faststart'] }),
    ],
    [
      'MP4 in fragments',
      video('mp4', 160, 120),
      () => sampleFilm('mp4', { ...small, options: ['-movflags', 'frag_keyframe+empty_moov'] }),
    ],
    ['MP4 with HEVC', video('mp4', 160, 120), () => sampleFilm('mp4', { ...small, options: ['-c:v', 'libx265'] })],
    [
      'MP4 with VP9',
      video('mp4', 160, 120),
      () => sampleFilm('mp4', { ...small, options: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime'] }),
    ],
    ['MP4 with wide pixels', video('mp4', 213, 120), () => sampleFilm('mp4', { ...small, options: squeezed })],
    ['MP4 with subtitles', video('mp4', 160, 120), () => withSubtitles()],
    ['MOV', video('mov', 160, 120), () => sampleFilm('mov', small)],
    [
      'MOV with ProRes',
      video('mov', 160, 120),
      () => sampleFilm('mov', { ...small, options: ['-c:v', 'prores', '-pix_fmt', 'yuv422p10le'] }),
    ],
    [
      'MOV with Sorenson video',
      video('mov', 160, 120),
      () => sampleFilm('mov', { ...small, options: ['-c:v', 'svq1', '-pix_fmt', 'yuv410p'] }),
    ],
    [
      'MOV with Motion JPEG',
      video('mov', 160, 120),
      () => sampleFilm('mov', { ...small, options: ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'] }),
    ],
    [
      'MOV with QuickTime animation',
      video('mov', 160, 120),
      () => sampleFilm('mov', { ...small, options: ['-c:v', 'qtrle', '-pix_fmt', 'rgb24'] }),
    ],
    ['3GP', video('3gp', 160, 120), () => sampleFilm('3gp', small)],
    [
      '3GP with H.263',
      video('3gp', 176, 144),
      () => sampleFilm('3gp', { width: 176, height: 144, options: ['-c:v', 'h263', '-aspect', '176:144'] }),
    ],
    ['3G2', video('3gp', 160, 120), () => sampleFilm('3gp', { ...small, options: ['-f', '3g2'] })],
    ['WebM', video('webm', 160, 120), () => sampleFilm('webm', small)],
    ['MKV', video('mkv', 160, 120), () => sampleFilm('mkv', small)],
    ['MKV with wide pixels', video('mkv', 213, 120), () => sampleFilm('mkv', { ...small, options: squeezed })],
    ['AVI', video('avi', 160, 120), () => sampleFilm('avi', small)],
    ['AVI with DivX 3', video('avi', 160, 120), () => sampleFilm('avi', { ...small, options: ['-c:v', 'msmpeg4'] })],
    ['AVI with Cinepak', video('avi', 160, 120), () => sampleFilm('avi', { ...small, options: ['-c:v', 'cinepak'] })],
    ['MPEG-2', video('mpg', 160, 120), () => sampleFilm('mpg', small)],
    [
      'MPEG-2 of a DVD',
      video('mpg', 1024, 576),
      () => sampleFilm('mpg', { width: 720, height: 576, options: ['-aspect', '16:9'] }),
    ],
    [
      'MPEG-1',
      video('mpg', 160, 120),
      () => sampleFilm('mpg', { ...small, options: ['-c:v', 'mpeg1video', '-f', 'mpeg'] }),
    ],
    ['TS', video('ts', 160, 120), () => sampleFilm('ts', small)],
    [
      "TS of a camera's",
      video('ts', 160, 120),
      () => sampleFilm('ts', { ...small, options: ['-mpegts_m2ts_mode', '1'] }),
    ],
    ['OGV', video('ogv', 160, 120), () => sampleFilm('ogv', small)],
    ['FLV', video('flv', 160, 120), () => sampleFilm('flv', small)],
    ['WMV', video('wmv', 160, 120), () => sampleFilm('wmv', small)],
    ['two films, the second is the default', video('mkv', 80, 60), () => twoFilms()],
  ])('%s', async (_, expected, bytes) => {
    expect(await probe(await bytes())).toEqual(expected);
  });

  test.each([90, 180, 270])('MP4 turned by %i degrees', async (degrees) => {
    const onItsSide = degrees !== 180;
    expect(await probe(withRotation(await sampleFilm('mp4', small), degrees))).toEqual(
      video('mp4', onItsSide ? 120 : 160, onItsSide ? 160 : 120),
    );
  });

  test('wide pixels are made square before the film is turned', async () => {
    const film = await sampleFilm('mp4', { ...small, options: squeezed });
    expect(await probe(withRotation(film, 90))).toEqual(video('mp4', 120, 213));
  });
});

describe('what is no film of ours', () => {
  test.each<[string, string, () => Promise<Buffer> | Buffer]>([
    [
      'sound alone in an MP4',
      'no_picture',
      () => made(['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'aac', '-f', 'ipod']),
    ],
    [
      'sound alone in an Ogg',
      'no_picture',
      () => made(['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'libvorbis', '-f', 'ogg']),
    ],
    ['sound with a cover', 'no_picture', () => soundWithCover()],
    [
      'a codec that is not on the list',
      'codec',
      () => sampleFilm('avi', { ...small, options: ['-c:v', 'magicyuv', '-pix_fmt', 'gbrp'] }),
    ],
    ['an MP4 that was cut off', 'broken', async () => (await sampleFilm('mp4', small)).subarray(0, 9000)],
    ['an MP4 of its brand alone', 'broken', () => ftyp('isom', 'mp42')],
    [
      'an MP4 with an empty index',
      'no_picture',
      () => Buffer.concat([ftyp('isom'), isoBox('moov', isoBox('mvhd', Buffer.alloc(100)))]),
    ],
    [
      'a thousand boxes without an index',
      'broken',
      () => Buffer.concat([ftyp('isom'), ...Array.from({ length: 1000 }, () => isoBox('free'))]),
    ],
    [
      'a Matroska film that ends after its first words',
      'broken',
      async () => (await sampleFilm('mkv', small)).subarray(0, 60),
    ],
    ['an AVI of its first words', 'broken', () => Buffer.from('RIFF\xff\xff\xff\xffAVI LIST', 'latin1')],
  ])('%s', async (_, why, bytes) => {
    expect(await probe(await bytes())).toEqual({ outcome: 'unsupported', why });
  });
});

describe('little is read, and nothing is left', () => {
  test('of a film of 1 GiB whose index is at its end', async () => {
    const film = await sampleFilm('mp4', { ...small, options: ['-fflags', '+bitexact'] });
    const moovAt = film.lastIndexOf('moov') - 4;
    const mdatAt = film.indexOf('mdat') - 4;
    // "wide" makes room for a size of 64 bits; the pictures begin where they did.
    const long = Buffer.alloc(16);
    const gibi = 1024 ** 3;
    long.writeUInt32BE(1, 0);
    long.write('mdat', 4, 'latin1');
    long.writeBigUInt64BE(BigInt(gibi), 8);
    const source = new CountedSource(Buffer.concat([film.subarray(0, mdatAt), long]), {
      zeros: gibi - 16,
      tail: film.subarray(moovAt),
    });
    expect(source.size).toBeGreaterThan(gibi);
    expect(await look(source)).toEqual(video('mp4', 160, 120));
    expect(source.bytesRead).toBeLessThanOrEqual(64 * 1024);
  });

  test('of a long film of any other type', async () => {
    for (const type of ['webm', 'mkv', 'avi', 'mpg', 'ts', 'ogv', 'flv', 'wmv'] as const) {
      const source = new CountedSource(await sampleFilm(type, small), { zeros: 100 * 1024 * 1024 });
      expect(await look(source)).toEqual(video(type, 160, 120));
      expect(source.bytesRead).toBeLessThanOrEqual(1024 * 1024);
    }
  });

  test('in the scratch directory, whatever the film was', async () => {
    expect(await readdir(scratchDir)).toEqual([]);
  });
});

// Turns the first track: its header ends with a matrix and the size.
function withRotation(film: Buffer, degrees: number): Buffer {
  const turns: Record<number, readonly number[]> = { 90: [0, 1, -1, 0], 180: [-1, 0, 0, -1], 270: [0, -1, 1, 0] };
  const [a = 0, b = 0, c = 0, d = 0] = turns[degrees] ?? [];
  const header = film.indexOf('tkhd') - 4;
  const matrixAt = header + film.readUInt32BE(header) - 44;
  const turnedFilm = Buffer.from(film);
  [a, b, 0, c, d, 0].forEach((value, n) => {
    turnedFilm.writeInt32BE(value * 0x10000, matrixAt + n * 4);
  });
  return turnedFilm;
}

function twoFilms(): Promise<Buffer> {
  const films = [
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=160x120:duration=1',
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=80x60:duration=1',
  ];
  return made([
    ...films,
    '-map',
    '0',
    '-map',
    '1',
    '-c:v',
    'mpeg4',
    '-disposition:v:0',
    '0',
    '-disposition:v:1',
    'default',
    '-f',
    'matroska',
  ]);
}

async function soundWithCover(): Promise<Buffer> {
  const inputs = [
    '-f',
    'lavfi',
    '-i',
    'sine=duration=1',
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=160x120:rate=1:duration=1',
  ];
  return made([
    ...inputs,
    '-frames:v',
    '1',
    '-c:a',
    'aac',
    '-c:v',
    'mjpeg',
    '-pix_fmt',
    'yuvj420p',
    '-disposition:v',
    'attached_pic',
    '-f',
    'mp4',
  ]);
}

function withSubtitles(): Promise<Buffer> {
  const subtitles = 'data:text/plain,1%0A00:00:00,000%20--%3E%2000:00:01,000%0Ahello%0A';
  const inputs = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:duration=1', '-f', 'srt', '-i', subtitles];
  return made([...inputs, '-c:v', 'mpeg4', '-c:s', 'mov_text', '-f', 'mp4']);
}

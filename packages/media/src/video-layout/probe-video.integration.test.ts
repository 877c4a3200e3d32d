import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { ftyp, isoBox } from '@echodrop/testkit/samples/sample-iso';
import { made, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probed } from '../probed.fixture.ts';

let scratchDir: string;
beforeAll(async () => {
  scratchDir = await mkdtemp(join(tmpdir(), 'probe-video-'));
});
afterAll(() => rm(scratchDir, { recursive: true }));

const look = (source: CountedSource) => probed(source, { scratchDir });
const probedVideo = (type: string, width: number, height: number) => ({
  outcome: 'media',
  kind: 'video',
  type,
  width,
  height,
});
const small = { width: 160, height: 120 };

describe('rejected videos', () => {
  test.each<[string, string, () => Promise<Buffer> | Buffer]>([
    [
      'a codec that is not allowed',
      'codec',
      () => sampleVideo('avi', { ...small, options: ['-c:v', 'magicyuv', '-pix_fmt', 'gbrp'] }),
    ],
    ['an MP4 with only its brands', 'broken', () => ftyp('isom', 'mp42')],
    [
      'an MP4 with an empty index',
      'no_picture',
      () => Buffer.concat([ftyp('isom'), isoBox('moov', isoBox('mvhd', Buffer.alloc(100)))]),
    ],
    [
      '1000 boxes without an index',
      'broken',
      () => Buffer.concat([ftyp('isom'), ...Array.from({ length: 1000 }, () => isoBox('free'))]),
    ],
    [
      'an Ogg with only headers',
      'too_costly',
      () => {
        const page = Buffer.alloc(27 + 255 + 255 * 255);
        page.write('OggS');
        page.fill(255, 26, 27 + 255);
        return Buffer.concat(Array.from({ length: 150 }, () => page));
      },
    ],
    ['a truncated Matroska video', 'broken', async () => (await sampleVideo('mkv', small)).subarray(0, 60)],
    ['a truncated AVI', 'broken', () => Buffer.from('RIFF\xff\xff\xff\xffAVI LIST', 'latin1')],
  ])('%s', async (_, why, bytes) => {
    expect(await look(new CountedSource(await bytes()))).toEqual({ outcome: 'unsupported', why });
  });
});

const MiB = 1024 * 1024;
// Options that make videos of noise large.
const coarse: readonly (readonly [Parameters<typeof sampleVideo>[0], readonly string[]])[] = [
  ['webm', ['-b:v', '60M', '-qmin', '0', '-qmax', '4']],
  ['mkv', ['-qp', '4']],
  ['avi', ['-q:v', '1']],
  ['mpg', ['-q:v', '1']],
  ['ts', ['-qp', '4']],
  ['ogv', ['-q:v', '10']],
  ['flv', ['-q:v', '1']],
  ['wmv', ['-q:v', '1']],
];

describe('reads little, and leaves nothing', () => {
  test('of a video of 1 GiB whose index is at its end', async () => {
    const video = await sampleVideo('mp4', { ...small, options: ['-fflags', '+bitexact'] });
    const moovAt = video.lastIndexOf('moov') - 4;
    const mdatAt = video.indexOf('mdat') - 4;
    // "wide" reserves space for a 64-bit size, so the pictures keep their offset.
    const long = Buffer.alloc(16);
    const gibi = 1024 ** 3;
    long.writeUInt32BE(1, 0);
    long.write('mdat', 4, 'latin1');
    long.writeBigUInt64BE(BigInt(gibi), 8);
    const source = new CountedSource(Buffer.concat([video.subarray(0, mdatAt), long]), {
      zeros: gibi - 16,
      tail: video.subarray(moovAt),
    });
    expect(source.size).toBeGreaterThan(gibi);
    expect(await look(source)).toEqual(probedVideo('mp4', 160, 120));
    expect(source.bytesRead).toBeLessThanOrEqual(64 * 1024);
  });

  test('of a video whose index of three megabytes is at its beginning', async () => {
    const video = await sampleVideo('mp4', { ...small, options: ['-movflags', '+faststart'] });
    const moovAt = video.indexOf('moov') - 4;
    const moovEnd = moovAt + video.readUInt32BE(moovAt);
    const padding = isoBox('free', Buffer.alloc(3 * MiB));
    video.writeUInt32BE(video.readUInt32BE(moovAt) + padding.length, moovAt);
    const source = new CountedSource(Buffer.concat([video.subarray(0, moovEnd), padding, video.subarray(moovEnd)]));
    expect(await look(source)).toEqual(probedVideo('mp4', 160, 120));
    expect(source.bytesRead).toBeLessThanOrEqual(3 * MiB + 128 * 1024);
    expect(source.reads).toBeLessThanOrEqual(5);
  });

  test.each(coarse)('of a video of megabytes of any other type: %s', async (type, coding) => {
    const options = ['-vf', 'noise=alls=100:allf=t', ...coding];
    const source = new CountedSource(await sampleVideo(type, { width: 320, height: 240, seconds: 2, options }));
    expect(source.size).toBeGreaterThan(1.5 * MiB);
    expect(await look(source)).toEqual(probedVideo(type, 320, 240));
    expect([source.reads, source.bytesRead]).toEqual([1, MiB]);
  });

  test.each([
    ['5000 boxes', 5000, 0],
    ['300 boxes of 100 KB', 300, 100_000],
  ])('of a video whose index follows %s, which is too costly', async (_, boxes, length) => {
    const video = await sampleVideo('mp4', small);
    const moovAt = video.indexOf('moov') - 4;
    const free = Array.from({ length: boxes }, () => isoBox('free', Buffer.alloc(length)));
    const source = new CountedSource(Buffer.concat([video.subarray(0, moovAt), ...free, video.subarray(moovAt)]));
    expect(await look(source)).toEqual({ outcome: 'unsupported', why: 'too_costly' });
    expect(source.reads).toBeLessThanOrEqual(193);
    expect(source.longestRead).toBeLessThanOrEqual(64 * 1024);
  });

  test('of Flash Video with 20 MiB of sound and no picture', async () => {
    const tone = ['-f', 'lavfi', '-i', 'sine=duration=1'];
    const second = await made([...tone, '-c:a', 'pcm_s16le', '-ar', '44100', '-f', 'flv']);
    const tags = second.subarray(13);
    const source = new CountedSource(Buffer.concat([second, ...Array.from({ length: 240 }, () => tags)]));
    expect(source.size).toBeGreaterThan(20 * MiB);
    expect(await look(source)).toEqual({ outcome: 'unsupported', why: 'no_picture' });
    expect(source.bytesRead).toBeLessThan(10 * MiB);
  });

  test('in the scratch directory, for any video', async () => {
    expect(await readdir(scratchDir)).toEqual([]);
  });
});

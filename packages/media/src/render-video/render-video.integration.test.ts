import { made, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { picturesMade, videoMade } from '../rendered.fixture.ts';
import { videoSize } from '../rendition-size.ts';
import { cpuSeconds } from '../sandbox/cpu-seconds.fixture.ts';
import { displayedSize } from '../video-layout/read-video.ts';

const small = { width: 160, height: 120 };
const h264 = { codec: 'h264', pixelFormat: 'yuv420p' };
const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=10:duration=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=duration=1'];
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

test.each([
  [2560, 1440, { width: 1920, height: 1080 }],
  [1440, 2560, { width: 1080, height: 1920 }],
  [1080, 2340, { width: 886, height: 1920 }],
  [2000, 16, { width: 1920, height: 16 }],
  [161, 121, { width: 162, height: 122 }],
])('of %i x %i is transcoded to full HD at most, with even sides, and has that predicted size', async (...row) => {
  const [width, height, size] = row;
  const scaled = ['-vf', `scale=${width}:${height},setsar=1`, '-frames:v', '2', '-pix_fmt', 'yuv420p'];
  const source = [...picture, ...scaled, '-c:v', 'libvpx', '-deadline', 'realtime', '-f', 'webm'];
  const { tracks } = await videoMade('webm', await made(source));
  expect(tracks).toMatchObject([size]);
  expect(videoSize({ width, height })).toEqual(size);
});

test.each([
  ['copied', x264],
  ['transcoded', ['-c:v', 'mpeg4']],
])('that is rotated is shown upright, %s', async (_, coding) => {
  const lying = await made([...picture, ...coding, '-f', 'mp4']);
  const { tracks } = await videoMade('mp4', turnedMp4(lying));
  const [track] = tracks;
  expect(track && displayedSize(track)).toEqual({ width: 120, height: 160 });
});

// A quarter turn in the matrix of the track header (ISO/IEC 14496-12 section 8.3).
function turnedMp4(video: Buffer): Buffer {
  const turned = Buffer.from(video);
  const matrixAt = turned.indexOf('tkhd') + 4 + 40;
  [0, 0x10000, 0, -0x10000, 0, 0, 120 * 0x10000, 0, 0x40000000].forEach((number, n) => {
    turned.writeInt32BE(number, matrixAt + n * 4);
  });
  return turned;
}

test.each([
  ['10 bits', ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le']],
  ['4:4:4', ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv444p']],
  ['HEVC', ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none']],
])('of %s becomes 8 bits of 4:2:0', async (_, coding) => {
  const { tracks } = await videoMade('mp4', await made([...picture, ...coding, '-f', 'mp4']));
  expect(tracks).toMatchObject([h264]);
});

test('of high dynamic range is tone-mapped, and so is its poster', async () => {
  const pq = 'zscale=tin=bt709:pin=bt709:min=bt709:t=smpte2084:p=bt2020:m=bt2020nc:npl=203,format=yuv420p10le';
  const x265 = 'log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc';
  const tags = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];
  const grey = ['-f', 'lavfi', '-i', 'color=0x808080:size=160x120:rate=10:duration=1'];
  const hdr = await made([...grey, '-vf', pq, '-c:v', 'libx265', '-x265-params', x265, ...tags, '-f', 'mp4']);
  expect((await videoMade('mp4', hdr)).tracks).toMatchObject([{ ...h264, transfer: 'bt709' }]);
  const { channels } = await sharp((await picturesMade('mp4', hdr))('large.jpg')).stats();
  for (const { mean } of channels) expect(Math.abs(mean - 128)).toBeLessThan(25);
});

test('has no sound if the source has none', async () => {
  const { tracks } = await videoMade('webm', await sampleVideo('webm', { ...small, sound: false }));
  expect(tracks).toMatchObject([{ codec: 'h264' }]);
});

test.each([
  ['MP3 in mp4', 'mp4', ['-c:a', 'libmp3lame', '-f', 'mp4']],
  ['PCM in mov', 'mov', ['-c:a', 'pcm_s16le', '-f', 'mov']],
] as const)('with %s gets AAC, and keeps its pictures', async (_, type, coding) => {
  const original = await made([...picture, ...tone, ...x264, ...coding]);
  const { tracks, video } = await videoMade(type, original);
  expect(tracks).toMatchObject([{ codec: 'h264' }, { codec: 'aac' }]);
  expect(video.length).toBeGreaterThan(1000);
});

test('of several tracks has the default ones', async () => {
  const other = ['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=10:duration=1'];
  const maps = ['-map', '0:v', '-map', '1:v', '-map', '2:a', '-map', '2:a'];
  const chosen = ['-disposition:v:0', '0', '-disposition:v:1', 'default', '-disposition:a:0', '0'];
  const video = await made([
    ...[...picture, ...other, ...tone, ...maps, ...x264, '-c:a', 'aac'],
    ...[...chosen, '-disposition:a:1', 'default', '-f', 'matroska'],
  ]);
  const { tracks } = await videoMade('mkv', video);
  expect(tracks).toMatchObject([{ codec: 'h264', width: 320, height: 240 }, { codec: 'aac' }]);
});

test.each([
  ['transcoded', ['-c:v', 'libvpx']],
  ['copied', x264],
])('is silent if the sound cannot be decoded: %s', async (way, coding) => {
  const video = await made([...picture, ...tone, ...coding, '-c:a', 'libopus', '-f', 'matroska']);
  const odd = Buffer.from(video.toString('latin1').replaceAll('A_OPUS', 'A_OPXS'), 'latin1');
  const { tracks, video: silent } = await videoMade('mkv', odd);
  expect(tracks).toMatchObject([{ codec: 'h264' }]);
  const someBytes = odd.subarray(-1600, -1500);
  expect(silent.includes(someBytes)).toBe(way === 'copied');
});

test('cannot be made of a video that ends after its header', async () => {
  const video = (await sampleVideo('mkv', small)).subarray(0, 700);
  await expect(videoMade('mkv', video)).rejects.toThrow('broken');
});

test('that exceeds its time limit is not a breakdown, which would be retried', async () => {
  // The whole video takes nine seconds of processor time.
  const video = await sampleVideo('avi', { width: 1280, height: 720, seconds: 60 });
  const before = cpuSeconds();
  await expect(videoMade('avi', video, { seconds: 0.7 })).rejects.toThrow('timed_out');
  // On many cores its threads use more than one second per second.
  expect(cpuSeconds() - before).toBeLessThan(6);
});

test('is stopped if the job is cancelled', async () => {
  const video = await sampleVideo('avi', { width: 1280, height: 720, seconds: 60 });
  const stop = new AbortController();
  const rendering = videoMade('avi', video, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('enough')), 400);
  await expect(rendering).rejects.toThrow('enough');
});

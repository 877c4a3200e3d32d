import { made, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { expect, test } from 'vitest';
import { videoMade } from '../rendered.fixture.ts';
import { videoSize } from '../rendition-size.ts';
import { cpuSeconds } from '../sandbox/cpu-seconds.fixture.ts';

const small = { width: 160, height: 120 };
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

test('has no sound if the source has none', async () => {
  const { tracks } = await videoMade('webm', await sampleVideo('webm', { ...small, sound: false }));
  expect(tracks).toMatchObject([{ codec: 'h264' }]);
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

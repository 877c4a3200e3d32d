import { processesStarted } from '@echodrop/testkit/processes-started';
import { made, sampleVideo, wovenVideo } from '@echodrop/testkit/samples/sample-media';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { VideoType } from '../detect-media-type.ts';
import { mediaFile } from '../media-file.fixture.ts';
import { localVideo, picturesMade, videoMade, videoOptions } from '../rendered.fixture.ts';
import { hasInterlacedFrames } from './interlaced.ts';

const size = { width: 160, height: 120 };
const marked = ['-flags', '+ildct+ilme'];
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast'];
// Above the difference of adjacent lines due to coding.
const little = 3;
const much = 25;

test.each<[string, VideoType, readonly string[]]>([
  ['H.264 in mp4', 'mp4', [...x264, '-f', 'mp4']],
  ['H.264 in a Matroska file that says it is progressive', 'mkv', [...x264, '-f', 'matroska']],
  ['MPEG-2', 'mpg', ['-c:v', 'mpeg2video', '-q:v', '2', '-f', 'vob']],
])('deinterlaces a video of %s and its poster', async (_, type, coding) => {
  const woven = await wovenVideo(...coding, ...marked);
  expect(await combs(woven)).toBeGreaterThan(much);
  const { video, tracks } = await videoMade(type, woven);
  expect(tracks).toMatchObject([{ codec: 'h264', ...size }]);
  expect(await combs(video)).toBeLessThan(little);
  const poster = (await picturesMade(type, woven))('large.jpg');
  const { data, info } = await sharp(poster).greyscale().raw().toBuffer({ resolveWithObject: true });
  expect(lineDifference(data, info.width)).toBeLessThan(little);
});

test.each<[string, boolean, readonly string[]]>([
  ['baseline', false, ['-profile:v', 'baseline']],
  ['main', false, ['-profile:v', 'main']],
  ['high', false, ['-profile:v', 'high']],
  ['high, progressive but coded as interlaced', false, ['-x264-params', 'fake-interlaced=1']],
  ['high, interlaced', true, marked],
])('an MP4 of H.264 %s is decoded before it is copied: %s', async (_, isDecoded, options) => {
  const video = await sampleVideo('mp4', { ...size, options: ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', ...options] });
  await using file = await mediaFile(video);
  const local = await localVideo(file.path, 'mp4');
  const processes = await processesStarted(async () => {
    expect(await hasInterlacedFrames(local, videoOptions())).toBe(isDecoded);
  });
  expect(processes.length > 0).toBe(isDecoded);
});

test('does not deinterlace pictures that are not marked as interlaced', async () => {
  const woven = await wovenVideo('-c:v', 'mpeg4', '-q:v', '2', '-f', 'avi');
  expect(await combs((await videoMade('avi', woven)).video)).toBeGreaterThan(much);
});

test('transcodes a video of two lines', async () => {
  const flat = await sampleVideo('mkv', { width: 16, height: 2, seconds: 0.3, options: ['-c:v', 'ffv1'] });
  expect((await videoMade('mkv', flat)).tracks).toMatchObject([{ width: 16, height: 2 }, {}]);
});

/** The difference of adjacent lines in a frame from the middle of a video, of 255. */
async function combs(video: Buffer): Promise<number> {
  await using file = await mediaFile(video);
  const frame = ['-vf', 'select=eq(n\\,10)', '-frames:v', '1', '-pix_fmt', 'gray', '-f', 'rawvideo'];
  return lineDifference(await made(['-i', file.path, ...frame]), size.width);
}

function lineDifference(grey: Buffer, width: number): number {
  let sum = 0;
  for (let at = width; at < grey.length; at++) sum += Math.abs((grey[at] ?? 0) - (grey[at - width] ?? 0));
  return sum / (grey.length - width);
}

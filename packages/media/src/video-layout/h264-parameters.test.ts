import { made } from '@echodrop/testkit/samples/sample-media';
import { expect, test } from 'vitest';
import { boxContents } from '../input/iso-boxes.ts';
import { isFramesOnly } from './h264-parameters.ts';

const source = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=25', '-frames:v', '3', '-c:v', 'libx264'];

/** The `avcC` box of a video that x264 makes. */
async function parameters(...options: string[]): Promise<Buffer> {
  const video = await made([...source, ...options, '-movflags', '+faststart', '-f', 'mp4']);
  const at = video.indexOf('avcC') - 4;
  return boxContents(video.subarray(at, at + video.readUInt32BE(at)), 'avcC')[0] ?? Buffer.alloc(0);
}

test.each([
  ['baseline', true, ['-profile:v', 'baseline']],
  ['main', true, ['-profile:v', 'main']],
  ['high', true, ['-profile:v', 'high']],
  ['high, interlaced', false, ['-flags', '+ildct+ilme']],
  ['high, whole pictures that pass for interlaced', false, ['-x264-params', 'fake-interlaced=1']],
])(
  'of a video of profile %s it is known without a look at its pictures that they are whole: %s',
  async (_, isKnown, options) => {
    const avcC = await parameters('-pix_fmt', 'yuv420p', ...options);
    expect(avcC.length).toBeGreaterThan(16);
    expect(isFramesOnly(avcC)).toBe(isKnown);
  },
);

test('of parameters that are cut off nothing is known', async () => {
  const avcC = await parameters('-pix_fmt', 'yuv420p', '-profile:v', 'high');
  for (const length of [0, 5, 6, 8, 10]) expect(isFramesOnly(avcC.subarray(0, length))).toBe(false);
});

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { describe, expect, test } from 'vitest';
import { describeProbe, probed } from './probed.fixture.ts';

// Third-party media, next to the project if it exists.
const samples = fileURLToPath(new URL('../../../../shared/samples/', import.meta.url));

const sizes: Record<string, string> = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`orientation/landscape_${n}.jpg`, 'jpg 1800x1200'])),
  'video/test-1s.mp4': 'mp4 320x240',
  'video/test-1s.webm': 'webm 320x240',
  'video/movie_5.mp4': 'mp4 320x240',
  'video/movie_5.ogv': 'ogv 320x240',
  'video/counting.mp4': 'mp4 352x288',
  'video/400x300-red-resize-200x150-green.mp4': 'mp4 400x300',
  'video/400x300-red-resize-200x150-green.webm': 'webm 400x300',
  'video/sound_5.mp3': 'unknown_type',
  'video/sound_5.oga': 'no_picture',
  'tiny/bmp.bmp': 'bmp 1x1',
  'tiny/gif.gif': 'gif 1x1',
  'tiny/gif-transparent.gif': 'gif 1x1',
  'tiny/heif.heif': 'heic 64x64',
  'tiny/jpeg.jpg': 'jpg 1x1',
  'tiny/png-transparent.png': 'png 1x1',
  'tiny/png-truncated.png': 'png 1x1',
  'tiny/tiff.tif': 'tiff 1x1',
  'tiny/webm.webm': 'webm 8x8',
  'tiny/webp.webp': 'webp 11330x446',
  'tiny/jpeg2.jp2': 'unknown_type',
  'tiny/jxl.jxl': 'unknown_type',
  'tiny/Mpeg4.mp4': 'no_picture',
  'tiny/mp4-with-audio.mp4': 'no_picture',
};

describe('media from other sources', unlessMissing({ 'sample media of other programs': existsSync(samples) }), () => {
  test.each(Object.entries(sizes))('%s: %s', async (file, expected) => {
    expect(describeProbe(await probed(await readFile(samples + file)))).toBe(expected);
  });
});

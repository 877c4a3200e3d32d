import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { VideoType } from '../detect-media-type.ts';
import { drawnPictures, firstPicture, videoMade } from '../rendered.fixture.ts';
import { picturesOf } from '../rendition-recipes.ts';
import { mark, markedPhotos } from './marked-media.fixture.ts';
import { markedVideo } from './marked-videos.fixture.ts';

// Signatures of containers of the mark; `somewhere` is in the EXIF of a
// sample HEIC, `x264` in metadata of the encoder.
const traces = [mark, utf16(mark), 'Exif', 'adobe', 'xmpmeta', 'Photoshop', 'ICC_PROFILE', 'acsp', 'somewhere'];

function utf16(text: string): Buffer {
  return Buffer.from(text, 'utf16le');
}

async function expectNoTrace(name: string, picture: Buffer): Promise<void> {
  for (const trace of traces) expect({ name, trace, at: picture.indexOf(trace) }).toEqual({ name, trace, at: -1 });
  const metadata = await sharp(picture).metadata();
  for (const kind of ['exif', 'icc', 'iptc', 'xmp', 'comments', 'orientation', 'tifftagPhotoshop'] as const) {
    expect({ name, kind, found: metadata[kind] }).toEqual({ name, kind, found: undefined });
  }
}

test.each(markedPhotos)('keeps no metadata of %s in any picture', async (_, type, photo) => {
  const original = await photo();
  expect(original.includes(mark)).toBe(true);
  const { end, pictures } = await drawnPictures(type, original);
  expect(end).toEqual({ outcome: 'made' });
  expect(pictures.size).toBe(picturesOf(type).length);
  for (const [name, picture] of pictures) await expectNoTrace(name, picture);
});

const types: readonly VideoType[] = ['mp4', 'mov', '3gp', 'mkv', 'ts', 'flv', 'mpg', 'webm', 'avi', 'ogv', 'wmv'];

// Copied without transcoding. So is a transport stream, but its pictures are fragmented.
const copied: readonly VideoType[] = ['mp4', 'mov', '3gp', 'mkv', 'flv'];

test.each(types)('a %s becomes a video that browsers play and a poster, without metadata', async (type) => {
  const original = await markedVideo(type);
  const marks = [Buffer.from(mark), utf16(mark)].map((each) => countIn(original, each));
  expect(Math.max(...marks)).toBeGreaterThan(5);
  const { video, tracks } = await videoMade(type, original);
  const picture = { kind: 'video', codec: 'h264', pixelFormat: 'yuv420p', width: 160, height: 120 };
  expect(tracks).toMatchObject([picture, { kind: 'sound', codec: 'aac' }]);
  // It can start to play at once.
  expect(video.indexOf('moov')).toBeLessThan(video.indexOf('mdat'));
  if (copied.includes(type)) expect(video.includes(firstPicture(original))).toBe(true);
  for (const trace of [...traces, 'x264 - core', 'Lavf', 'Lavc5', 'chpl', 'text', 'keys', 'loci', 'GA94']) {
    expect({ trace, at: video.indexOf(trace) }).toEqual({ trace, at: -1 });
  }
  const { pictures } = await drawnPictures(type, original);
  expect(pictures.size).toBe(picturesOf(type).length);
  for (const [name, picture] of pictures) await expectNoTrace(name, picture);
  const { channels } = await sharp(pictures.get('large.jpg')).stats();
  expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(30);
});

function countIn(video: Buffer, mark: Buffer): number {
  return video.toString('latin1').split(mark.toString('latin1')).length - 1;
}

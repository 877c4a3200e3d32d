import { isoBox } from '@echodrop/testkit/samples/sample-iso';
import { made } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { childBoxes } from '../input/iso-boxes.ts';
import { mediaFile } from '../media-file.fixture.ts';
import { picturesMade, videoMade } from '../rendered.fixture.ts';
import type { Track } from './ffprobe.ts';
import { isTrimmedOrJoined } from './video-edits.ts';

const rate = 10;
// So that all times are milliseconds.
const inMilliseconds = ['-video_track_timescale', '1000'];
const picture = ['-f', 'lavfi', '-i', `testsrc2=size=160x120:rate=${rate}:duration=6`];
const h264 = ['-c:v', 'libx264', '-g', '20', '-bf', '2', '-pix_fmt', 'yuv420p', ...inMilliseconds];
const whole = () => made([...picture, ...h264, '-f', 'mp4']);

type Edit = readonly [shownMs: number, fromMs: number];

/** Replaces the edit list of the first track; pictures keep their offsets. */
async function edited(video: Buffer, ...edits: readonly Edit[]): Promise<Buffer> {
  const numbers = edits.flatMap(([shown, from]) => [shown, from, 0x10000]);
  const list = Buffer.alloc(8 + 4 * numbers.length);
  list.writeUInt32BE(edits.length, 4);
  for (const [n, number] of numbers.entries()) list.writeInt32BE(number, 8 + 4 * n);
  return rewritten(video, ['moov', 'trak', 'edts', 'elst'], list);
}

function rewritten(bytes: Buffer, [type, ...deeper]: readonly string[], content: Buffer): Buffer {
  const all = [...childBoxes(bytes, 0)];
  const first = all.find((box) => box.type === type);
  const boxes = all.map((box) => {
    if (type === undefined || box !== first) return bytes.subarray(box.offset, box.end);
    const inner = bytes.subarray(box.content, box.end);
    return isoBox(type, deeper.length > 0 ? rewritten(inner, deeper, content) : content);
  });
  return Buffer.concat(boxes);
}

async function hidesPictures(video: Buffer, index = 0): Promise<boolean> {
  await using file = await mediaFile(video);
  const picture = { index, startSeconds: 0 } as Track;
  return await isTrimmedOrJoined({ path: file.path, type: 'mp4', picture, sounds: [] });
}

/** The number of pictures in a video, including hidden ones. */
async function picturesIn(video: Buffer): Promise<number> {
  await using file = await mediaFile(video);
  const query = ['-ignore_editlist', '1', '-select_streams', 'v', '-count_packets'];
  const shown = ['-show_entries', 'stream=nb_read_packets', '-of', 'csv=print_section=0'];
  return Number((await execa('ffprobe', ['-v', 'error', ...query, ...shown, file.path])).stdout);
}

const withSound = () => made([...picture, '-f', 'lavfi', '-i', 'sine=duration=6', ...h264, '-f', 'mp4']);

/** Shows the last picture ten times as long. */
async function lastForLonger(): Promise<Buffer> {
  const video = await whole();
  const runs = Buffer.alloc(8 + 16);
  const numbers = [2, 6 * rate - 1, 1000 / rate, 1, 10 * (1000 / rate)];
  for (const [n, number] of numbers.entries()) runs.writeUInt32BE(number, 4 + 4 * n);
  return rewritten(video, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stts'], runs);
}

/** Trims without re-encoding, so that all pictures from the last keyframe are copied. */
async function cutWithoutEncoding(...cut: readonly string[]): Promise<Buffer> {
  await using file = await mediaFile(await whole());
  return await made([...cut, '-i', file.path, '-c', 'copy', ...inMilliseconds, '-f', 'mp4']);
}

// With up to two reordered pictures, the first one is shown two frame times late.
const firstMs = 2 * (1000 / rate);
const pauses = (count: number) => Array.from({ length: count }, (): Edit => [10, -1]);
const shownSeconds = 2;
const removed: readonly [string, () => Promise<Buffer>][] = [
  ['its end, after many pauses,', async () => edited(await whole(), ...pauses(20), [2000, firstMs])],
  ['its middle', async () => edited(await whole(), [1000, firstMs], [1000, firstMs + 4000])],
  ['pictures before a cut without re-encoding', () => cutWithoutEncoding('-ss', '3', '-t', '2')],
];
const hiding: readonly [string, () => Promise<Buffer>][] = [
  ['its beginning', async () => edited(await whole(), [3000, firstMs + 3000])],
  ['its end', async () => edited(await whole(), [2000, firstMs])],
  ['both ends', async () => edited(await whole(), [2000, firstMs + 1000])],
  ...removed,
];

test.each(hiding)('does not copy a video whose edits hide %s', async (_, video) => {
  expect(await hidesPictures(await video())).toBe(true);
});

test.each(removed)('removes what the edits of a video hide: %s', async (_, video) => {
  const original = await video();
  expect(await picturesIn(original)).toBeGreaterThan(shownSeconds * rate + 5);
  const pictures = await picturesIn((await videoMade('mp4', original)).video);
  expect(Math.abs(pictures - shownSeconds * rate)).toBeLessThanOrEqual(2);
});

test('removes what the edits of a video in fragments hide at its start, from its poster too', async () => {
  const halves = ['-f', 'lavfi', '-i', `color=red:s=160x120:r=${rate}:d=4,format=yuv420p`, '-f', 'lavfi', '-i'];
  const joined = [...halves, `color=blue:s=160x120:r=${rate}:d=2,format=yuv420p`, '-filter_complex', '[0][1]concat'];
  const coloured = await made([...joined, ...h264, '-f', 'mp4']);
  const fragments = ['-movflags', 'frag_keyframe+delay_moov', '-use_editlist', '1', '-avoid_negative_ts', 'disabled'];
  await using file = await mediaFile(coloured);
  const original = await made(['-itsoffset', '-4', '-i', file.path, '-c', 'copy', ...fragments, '-f', 'mp4']);
  expect(await picturesIn(original)).toBe(6 * rate);
  const pictures = await picturesIn((await videoMade('mp4', original)).video);
  expect(Math.abs(pictures - shownSeconds * rate)).toBeLessThanOrEqual(2);
  const poster = (await picturesMade('mp4', original))('large.jpg');
  const { channels } = await sharp(poster).stats();
  expect(channels.map(({ mean }) => mean > 200)).toEqual([false, false, true]);
});

const showingAll: readonly [string, () => Promise<Buffer>][] = [
  ['has reordered pictures', whole],
  ['has no reordered pictures', () => made([...picture, ...h264, '-bf', '0', '-f', 'mp4'])],
  ['begins later than its sound', async () => edited(await whole(), [700, -1], [6000, firstMs])],
  ['has edits that ignore the reordering delay', async () => edited(await whole(), [6000, 0])],
  ['shows its last picture longer', async () => edited(await lastForLonger(), [6000, firstMs])],
  ['has edits that are slightly short', async () => edited(await whole(), [5950, firstMs + 20])],
  ['was cut at a keyframe', () => cutWithoutEncoding('-ss', '2')],
  ['is in fragments', () => made([...picture, ...h264, '-movflags', 'frag_keyframe', '-f', 'mp4'])],
  [
    'is in fragments with an empty index',
    () => made([...picture, ...h264, '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4']),
  ],
  ['is a MOV', () => made([...picture, ...h264, '-f', 'mov'])],
];

test.each(showingAll)('copies a video that %s', async (_, video) => {
  expect(await hidesPictures(await video())).toBe(false);
});

test('checks the displayed track of several', async () => {
  const both = await made([...picture, ...picture, '-map', '0', '-map', '1', ...h264, '-f', 'mp4']);
  const video = await edited(both, [2000, firstMs + 1000]);
  expect([await hidesPictures(video, 0), await hidesPictures(video, 1)]).toEqual([true, false]);
});

test.each<[string, Edit]>([
  ['nothing', [0, firstMs]],
  ['only what is beyond the end', [2000, 60_000]],
])('makes no rendition of a video whose edits show %s', async (_, edit) => {
  await expect(videoMade('mp4', await edited(await withSound(), edit))).rejects.toThrow('broken');
});

test('ignores truncated and invalid edits', async () => {
  const video = await whole();
  for (const type of ['elst', 'mdhd', 'mvhd', 'stts', 'ctts']) {
    const at = video.indexOf(type);
    for (const value of [0, 1, 0xff]) {
      const broken = Buffer.from(video).fill(value, at + 4, at + 16);
      expect(await hidesPictures(broken)).toBeTypeOf('boolean');
    }
  }
});

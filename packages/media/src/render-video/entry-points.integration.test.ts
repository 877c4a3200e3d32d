import { made } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { VideoType } from '../detect-media-type.ts';
import { mediaFile } from '../media-file.fixture.ts';
import { videoMade } from '../rendered.fixture.ts';
import { hasCleanEntryPoints } from '../video-layout/entry-points.ts';

const moving = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=25:duration=4'];
const h264 = (options: string) => [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'],
  ...['-x264-params', `keyint=25:min-keyint=25:scenecut=0:${options}`],
];
const openGroups = h264('open-gop=1:bframes=3');
const refresh = h264('intra-refresh=1:bframes=0');
const closedGroups = h264('open-gop=0:bframes=3');
const intraOnly = h264('open-gop=1:keyint=1');

/** The frames of a video that ffmpeg shows of the second after `start`: none that lacks what it refers to. */
async function countFramesFrom(video: Buffer, start: number): Promise<number> {
  await using file = await mediaFile(video);
  const cut = ['-ss', String(start), '-t', '1', '-i', file.path, '-map', '0:v', '-f', 'framecrc', 'pipe:1'];
  const { stdout } = await execa('ffmpeg', ['-v', 'quiet', ...cut]);
  return stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}

// A copy keeps what the stream states, which is nothing; a transcoded video states everything.
const isCopied = (matrix: string | undefined) => matrix === '' || matrix === 'unknown';

// biome-ignore format: a table, one row per line
test.concurrent.each<[string, VideoType, string[], 'copied' | 'transcoded']>([
  ['closed groups in MP4', 'mp4', [...moving, ...closedGroups, '-f', 'mp4'], 'copied'],
  ['closed groups in a transport stream', 'ts', [...moving, ...closedGroups, '-f', 'mpegts'], 'copied'],
  ['closed groups in a fragmented MP4', 'mp4', [...moving, ...closedGroups, '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4'], 'copied'],
  ['open groups in MP4', 'mp4', [...moving, ...openGroups, '-f', 'mp4'], 'transcoded'],
  ['open groups in QuickTime', 'mov', [...moving, ...openGroups, '-f', 'mov'], 'transcoded'],
  ['open groups in Matroska', 'mkv', [...moving, ...openGroups, '-f', 'matroska'], 'transcoded'],
  ['open groups in a transport stream', 'ts', [...moving, ...openGroups, '-f', 'mpegts'], 'transcoded'],
  ['open groups in Flash Video', 'flv', [...moving, ...openGroups, '-f', 'flv'], 'transcoded'],
  ['intra refresh in MP4', 'mp4', [...moving, ...refresh, '-f', 'mp4'], 'transcoded'],
  ['intra refresh in a transport stream', 'ts', [...moving, ...refresh, '-f', 'mpegts'], 'transcoded'],
  ['pictures that are all coded by themselves', 'mp4', [...moving, ...intraOnly, '-f', 'mp4'], 'copied'],
])('H.264 with %s (%s) plays from everywhere', async (_, type, args, how) => {
  const { tracks, video } = await videoMade(type, await made(args));
  expect(isCopied(tracks[0]?.matrix)).toBe(how === 'copied');
  for (const start of [0, 2, 3]) expect(await countFramesFrom(video, start)).toBeGreaterThanOrEqual(20);
});

/** Inserts bytes into boxes of an MP4 whose directory is at its end, so that no sample moves. */
function inserted(file: Buffer, at: number, piece: Buffer, boxes: readonly string[]): Buffer {
  const changed = Buffer.concat([file.subarray(0, at), piece, file.subarray(at)]);
  for (const type of boxes) {
    const size = changed.indexOf(type) - 4;
    changed.writeUInt32BE(changed.readUInt32BE(size) + piece.length, size);
  }
  return changed;
}

const descriptions = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'];

test('an MP4 with several sample descriptions is transcoded', async () => {
  const one = await made([...moving, ...closedGroups, '-f', 'mp4']);
  const at = one.indexOf('stsd') + 12;
  const two = inserted(one, at, one.subarray(at, at + one.readUInt32BE(at)), descriptions);
  two.writeUInt32BE(2, at - 4);
  const { tracks } = await videoMade('mp4', two);
  expect(isCopied(tracks[0]?.matrix)).toBe(false);
});

test('an MP4 with several sequence parameter sets is transcoded', async () => {
  const [one, other] = await Promise.all(
    ['0', '1'].map((id) => made([...moving, ...h264(`open-gop=0:sps-id=${id}`), '-f', 'mp4'])),
  );
  if (!one || !other) throw new Error('no videos');
  const parametersOf = (file: Buffer) => {
    const at = file.indexOf('avcC') + 4 + 6;
    return { at, bytes: file.subarray(at, at + 2 + file.readUInt16BE(at)) };
  };
  const { at, bytes } = parametersOf(one);
  const two = inserted(one, at + bytes.length, parametersOf(other).bytes, [...descriptions, 'avc1', 'avcC']);
  two.writeUInt8(0xe2, at - 1);
  const { tracks } = await videoMade('mp4', two);
  expect(isCopied(tracks[0]?.matrix)).toBe(false);
});

test('a transport stream whose size changes has one size', async () => {
  const [first, second] = await Promise.all(
    ['160x120', '320x240'].map((size) =>
      made(['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=25:duration=2`, ...closedGroups, '-f', 'mpegts']),
    ),
  );
  const { tracks, video } = await videoMade('ts', Buffer.concat([first ?? Buffer.alloc(0), second ?? Buffer.alloc(0)]));
  expect(tracks).toMatchObject([{ width: 160, height: 120 }]);
  expect(isCopied(tracks[0]?.matrix)).toBe(false);
  expect(await countFramesFrom(video, 2.5)).toBeGreaterThanOrEqual(20);
});

test('a table of a few bytes that states billions of samples is not walked through', async () => {
  const video = await made([...moving, ...closedGroups, '-f', 'mp4']);
  const sizes = video.indexOf('stsz') + 8;
  video.writeUInt32BE(1, sizes);
  video.writeUInt32BE(0xffffffff, sizes + 4);
  video.writeUInt32BE(0xffffffff, video.indexOf('stsc') + 16);
  // No sample is one of those at which decoding may start.
  const sync = video.indexOf('stss') + 8;
  video.fill(0xff, sync + 4, sync + 4 + 4 * video.readUInt32BE(sync));
  await using file = await mediaFile(video);
  expect(await hasCleanEntryPoints(file.path)).toBe(false);
});

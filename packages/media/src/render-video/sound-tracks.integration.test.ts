import { made } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { VideoType } from '../detect-media-type.ts';
import { mediaFile } from '../media-file.fixture.ts';
import { probed } from '../probed.fixture.ts';
import { videoMade } from '../rendered.fixture.ts';

const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=10:duration=1'];
const tone = (hertz: number) => ['-f', 'lavfi', '-i', `sine=frequency=${hertz}:duration=1`];
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const maps = ['-map', '0', '-map', '1', '-map', '2'];
const twoTones = [...picture, ...tone(440), ...tone(880), ...maps, ...x264, '-c:a', 'aac'];

/** Gives the audio tracks with these numbers, from 0, AAC object type 0, which no decoder opens (ISO/IEC 14496-3 table 1.1). */
function withBrokenAac(video: Buffer, ...tracks: readonly number[]): Buffer {
  const broken = Buffer.from(video);
  // In an MP4, the tag and length of the configuration; in Matroska, its id and length. AAC-LC begins with the bits 00010.
  const starts = [Buffer.from([0x05, 0x80, 0x80, 0x80]), Buffer.from([0x63, 0xa2])];
  const found = starts.flatMap((start) => {
    const places: number[] = [];
    for (let at = broken.indexOf(start); at >= 0; at = broken.indexOf(start, at + 1)) {
      const first = at + start.length + 1;
      if ((broken[first] ?? 0) >> 3 === 2) places.push(first);
    }
    return places;
  });
  for (const track of tracks) {
    const at = found[track];
    if (at === undefined) throw new Error(`no audio track ${track}`);
    broken.writeUInt8(broken.readUInt8(at) & 7, at);
  }
  return broken;
}

/** The frequency of the tone on the left and on the right, by how often it crosses zero. */
async function heardTones(video: Buffer): Promise<readonly number[]> {
  await using file = await mediaFile(video);
  const output = ['-map', '0:a:0', '-f', 's16le', '-ar', '48000', 'pipe:1'];
  const { stdout } = await execa('ffmpeg', ['-v', 'error', '-i', file.path, ...output], { encoding: 'buffer' });
  const samples = new Int16Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + (stdout.length & ~3)));
  // The middle half second: codecs add silence.
  return [0, 1].map((side) => {
    const mono = samples.filter((_, n) => n % 2 === side).slice(12_000, 36_000);
    return mono.reduce((count, value, n) => count + (n > 0 && value >= 0 !== (mono[n - 1] ?? 0) >= 0 ? 1 : 0), 0);
  });
}

/** Switches the tracks with these numbers, from 0, off in their headers (ISO/IEC 14496-12 8.3.2). */
function withTracksOff(video: Buffer, ...tracks: readonly number[]): Buffer {
  const changed = Buffer.from(video);
  let at = 0;
  for (let track = 0; track <= Math.max(...tracks); track += 1) {
    at = changed.indexOf('tkhd', at + 1);
    const flags = at + 7;
    if (tracks.includes(track)) changed.writeUInt8(changed.readUInt8(flags) & ~1, flags);
  }
  return changed;
}

test.concurrent.each<[string, number[], string[]]>([
  ['off', [1], ['video']],
  ['and picture off', [0, 1], ['video', 'sound']],
  ['on', [], ['video', 'sound']],
])('the sound of an MP4 whose sound is %s', async (_, off, kinds) => {
  const video = withTracksOff(await made([...picture, ...tone(440), ...x264, '-c:a', 'aac', '-f', 'mp4']), ...off);
  const { tracks } = await videoMade('mp4', video);
  expect(tracks.map(({ kind }) => kind)).toEqual(kinds);
});

// biome-ignore format: a table, one row per line
test.concurrent.each<[string, VideoType, string[], number[], number | 'none']>([
  ['AAC of an unknown kind in MP4', 'mp4', [...picture, ...tone(440), ...x264, '-c:a', 'aac', '-f', 'mp4'], [0], 'none'],
  ['AAC of an unknown kind in QuickTime', 'mov', [...picture, ...tone(440), ...x264, '-c:a', 'aac', '-f', 'mov'], [0], 'none'],
  ['AAC of an unknown kind in Matroska', 'mkv', [...picture, ...tone(440), ...x264, '-c:a', 'aac', '-f', 'matroska'], [0], 'none'],
  ['a first track that does not decode, in MP4', 'mp4', [...twoTones, '-f', 'mp4'], [0], 880],
  ['a first track that does not decode, in Matroska', 'mkv', [...twoTones, '-f', 'matroska'], [0], 880],
  ['a second track that does not decode', 'mp4', [...twoTones, '-f', 'mp4'], [1], 440],
  ['two tracks that do not decode', 'mp4', [...twoTones, '-f', 'mp4'], [0, 1], 'none'],
  ['a default track that is the second', 'mp4', [...twoTones, '-disposition:a:0', '0', '-disposition:a:1', 'default', '-f', 'mp4'], [], 880],
])('a video with %s (%s) is accepted, and has the sound that decodes', async (_, type, args, broken, tone) => {
  const bytes = withBrokenAac(await made(args), ...broken);
  expect(await probed(bytes)).toMatchObject({ outcome: 'media' });
  const { tracks, video } = await videoMade(type, bytes);
  expect(tracks.map(({ kind }) => kind)).toEqual(tone === 'none' ? ['video'] : ['video', 'sound']);
  if (tone === 'none') return;
  for (const hertz of await heardTones(video)) expect(Math.abs(hertz - tone)).toBeLessThan(20);
});

test.concurrent.each([3, 5, 7, 10, 12, 16, 24])(
  'sound of %i channels without a layout is mixed down',
  async (channels) => {
    const silent = Array.from({ length: channels - 2 }, () => '0');
    const waves = ['sin(440*2*PI*t)', 'sin(880*2*PI*t)', ...silent].join('|');
    const sound = ['-f', 'lavfi', '-i', `aevalsrc=${waves}:duration=1:sample_rate=48000`];
    const bytes = await made([...picture, ...sound, ...x264, '-c:a', 'pcm_s16le', '-f', 'mov']);
    const { tracks, video } = await videoMade('mov', bytes);
    expect(tracks).toMatchObject([{ kind: 'video' }, { kind: 'sound', codec: 'aac', channels: 2 }]);
    const [left, right] = await heardTones(video);
    expect(Math.abs((left ?? 0) - 440)).toBeLessThan(20);
    expect(Math.abs((right ?? 0) - 880)).toBeLessThan(20);
  },
);

import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { processesStarted } from '@echodrop/testkit/processes-started';
import { made } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Probe } from '../outcomes.ts';
import { probed } from '../probed.fixture.ts';
import { type KnownVideo, knownVideos, picture, sound, video } from './known-videos.fixture.ts';
import { videoGuards } from './video-codecs.ts';

const MiB = 1024 * 1024;
// ffmpeg shows the larger of two videos, makes videos of narrow pixels taller, and cannot decode a header alone.
const unlikeFfmpeg = /of two videos|narrow|half as wide|by its header/;
// Bytes before the pictures are skipped, or read up to a keyframe.
const searched = /begun between keyframes|before its pictures|first picture has more/;

test.each(knownVideos)('%s: %s, %i x %i', async (name, type, width, height, make) => {
  const bytes = await make();
  const source = new CountedSource(bytes);
  expect(await seen(source)).toEqual({ outcome: 'media', kind: 'video', type, width, height });
  expect(source.bytesRead).toBeLessThanOrEqual((searched.test(name) ? 3 : 1) * MiB + 64 * 1024);
});

test('ffmpeg decodes each video in that size, with the guards of its type', async () => {
  const decodable = knownVideos.filter(([name]) => !unlikeFfmpeg.test(name));
  for (let n = 0; n < decodable.length; n += 20) {
    const some = decodable.slice(n, n + 20);
    const sizes = await sizesDecoded(some);
    expect(some.map(([name], index) => [name, sizes[index]])).toEqual(
      some.map(([name, , width, height]) => [name, { width, height }]),
    );
  }
});

// biome-ignore format: a table, one row per line
const refused: readonly (readonly [name: string, why: string, make: () => Promise<Buffer>])[] = [
  ['sound alone in an MP4', 'no_picture', () => made([...sound(), '-c:a', 'aac', '-f', 'ipod'])],
  ['sound alone in a MOV', 'no_picture', () => made([...sound(), '-c:a', 'alac', '-f', 'mov'])],
  ['sound alone in a 3GP', 'no_picture', () => made([...sound(), '-c:a', 'aac', '-f', '3gp'])],
  ['sound alone in a Matroska file', 'no_picture', () => made([...sound(), '-c:a', 'flac', '-f', 'matroska'])],
  ['sound alone in a WebM', 'no_picture', () => made([...sound(), '-c:a', 'libopus', '-f', 'webm'])],
  ['sound alone in an Ogg', 'no_picture', () => made([...sound(), '-c:a', 'libvorbis', '-f', 'ogg'])],
  ['sound alone in a Windows Media file', 'no_picture', () => made([...sound(), '-c:a', 'wmav2', '-f', 'asf'])],
  ['sound alone in an AVI', 'no_picture', () => made([...sound(), '-c:a', 'libmp3lame', '-f', 'avi'])],
  ['sound alone in an FLV', 'no_picture', () => made([...sound(), '-c:a', 'libmp3lame', '-ar', '44100', '-f', 'flv'])],
  ['sound alone in a transport stream', 'no_picture', () => made([...sound(), '-c:a', 'aac', '-f', 'mpegts'])],
  ['sound with a cover', 'no_picture', () => soundWithCover('mjpeg', 'yuvj420p')],
];

test.each(refused)('%s is refused: %s', async (_, why, make) => {
  expect(await seen(new CountedSource(await make()))).toEqual({ outcome: 'unsupported', why });
});

test('refuses a truncated video without ffprobe, wherever its index is', async () => {
  const cut = [await video('mp4'), await video('mp4', '-movflags', '+faststart')].map((bytes) =>
    bytes.subarray(0, -100),
  );
  for (const bytes of cut) {
    expect(await seen(new CountedSource(bytes), 0)).toEqual({ outcome: 'unsupported', why: 'broken' });
  }
});

let scratchDir: string;
let samplesDir: string;
beforeAll(async () => {
  scratchDir = await mkdtemp(join(tmpdir(), 'known-videos-'));
  samplesDir = await mkdtemp(join(tmpdir(), 'known-videos-'));
});
afterAll(async () => {
  expect(await readdir(scratchDir)).toEqual([]);
  await Promise.all([scratchDir, samplesDir].map((directory) => rm(directory, { recursive: true })));
});

/** The result of a probe, and the number of ffprobe runs. */
async function seen(source: CountedSource, looks = 1): Promise<Probe> {
  const found: Probe[] = [];
  const processes = await processesStarted(async () => found.push(await probed(source, { scratchDir })));
  expect(processes.filter((program) => program.endsWith('/landlock-and-seccomp.pl'))).toHaveLength(looks);
  return found[0] as Probe;
}

/** The sizes of the first frames that ffmpeg decodes, rotated and with square pixels. One process: most of its time is its start. */
async function sizesDecoded(videos: readonly KnownVideo[]): Promise<readonly { width: number; height: number }[]> {
  const paths = videos.map(() => join(samplesDir, randomUUID()));
  await Promise.all(videos.map(async ([, , , , make], n) => writeFile(paths[n] ?? '', await make())));
  const square = "scale=w='round(if(gt(sar,1),iw*sar,iw))':h='round(if(between(sar,0.001,0.999),ih/sar,ih))'";
  const coding = ['-frames:v', '1', '-vf', square, '-c:v', 'png', '-f', 'image2', '-update', '1'];
  const inputs = videos.flatMap(([, type], n) => ['-threads', '1', ...videoGuards(type), '-i', `file:${paths[n]}`]);
  const outputs = paths.flatMap((path, n) => ['-map', `${n}:V:0`, ...coding, `${path}.png`]);
  await execa('ffmpeg', ['-nostdin', '-y', '-v', 'fatal', ...inputs, ...outputs]);
  const pictures = await Promise.all(paths.map((path) => readFile(`${path}.png`)));
  return pictures.map((png) => ({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) }));
}

function soundWithCover(codec: string, pixelFormat: string): Promise<Buffer> {
  const coding = ['-frames:v', '1', '-c:a', 'aac', '-c:v', codec, '-pix_fmt', pixelFormat];
  return made([...sound(), ...picture(160, 120), ...coding, '-disposition:v', 'attached_pic', '-f', 'mp4']);
}

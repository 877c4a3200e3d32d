import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { patientSignal } from '@echodrop/testkit/patience';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { afterAll, afterEach, expect, test } from 'vitest';
import { isPhoto, type MediaType } from './detect-media-type.ts';
import type { Probe } from './outcomes.ts';
import { probeMedia } from './probe.ts';
import { describeProbe } from './sandbox/probe-files.fixture.ts';

const scratch = await mkdtempDisposable(join(tmpdir(), 'probe-damaged-'));
afterEach(async () => expect(await readdir(scratch.path)).toEqual([]));
afterAll(() => scratch[Symbol.asyncDispose]());

function probed(source: CountedSource): Promise<Probe> {
  return probeMedia(source, { scratchDir: scratch.path, maxPixels: 1e8, signal: patientSignal() });
}

const photoTypes = ['jpg', 'png', 'gif', 'webp', 'avif', 'tiff', 'bmp'] as const;
// MOV and 3GP have the reader of MP4, and WebM has that of Matroska.
const videoTypes = ['mp4', 'mkv', 'avi', 'mpg', 'ts', 'ogv', 'flv', 'wmv'] as const;

test.each([...photoTypes, ...videoTypes])('refuses %s truncated anywhere, or finds its type', async (type) => {
  const size = { width: 160, height: 120 };
  const whole = await sample(type, size);
  for (const cut of cuts(whole.length, isPhoto(type))) {
    const found = describeProbe(await probed(new CountedSource(whole.subarray(0, cut))));
    if (!/^[a-z_]+$/.test(found)) expect(`${cut} bytes: ${found}`).toBe(`${cut} bytes: ${type} 160x120`);
  }
});

test.each([...photoTypes, ...videoTypes])('probes %s with bytes changed anywhere without failing', async (type) => {
  const whole = await sample(type, { width: 160, height: 120 });
  for (const at of cuts(Math.min(whole.length - 4, 2000), isPhoto(type))) {
    const bytes = Buffer.from(whole);
    bytes.fill(0xff, at, at + 4);
    expect(describeProbe(await probed(new CountedSource(bytes)))).toMatch(/^([a-z_]+|[a-z0-9]+ \d+x\d+)$/);
  }
});

function sample(type: MediaType, size: { width: number; height: number }): Promise<Buffer> {
  const photo = photoTypes.find((each) => each === type);
  const video = videoTypes.find((each) => each === type);
  return video ? sampleVideo(video, size) : samplePhoto(photo ?? 'jpg', size);
}

// Each cut of a video takes a process.
function cuts(length: number, many: boolean): readonly number[] {
  const steps = many ? 60 : 6;
  const spread = Array.from({ length: steps }, (_, n) => Math.ceil(length ** ((n + 1) / steps)) - 1);
  return [...new Set(spread)].filter((cut) => cut > 0);
}

test('ignores lines that a title injects into the output', async () => {
  const title = 'x\nwidth=9999\nheight=9999';
  const options = ['-metadata', `title=${title}`, '-metadata:s:v', `handler_name=${title}`];
  const video = await sampleVideo('mp4', { width: 160, height: 120, options });
  expect(await probed(new CountedSource(video))).toMatchObject({ width: 160, height: 120 });
});

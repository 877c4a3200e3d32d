import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { startCanary, type WatchedCanary } from '@echodrop/testkit/hostile/hostile-canary';
import { hostileMedia } from '@echodrop/testkit/hostile/hostile-media';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isPhoto, type MediaType } from '../media-type.ts';
import type { Probe } from '../outcomes.ts';
import { probeMedia } from '../probe.ts';
import { pictureRecipes } from '../recipes.ts';
import { renderPictures } from '../render-picture/render-pictures.ts';
import { renderVideo } from '../render-video/render-video.ts';

const MiB = 2 ** 20;
const parts = new AsyncDisposableStack();
let directory: string;
let canary: WatchedCanary;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'probe-hostile-'));
  parts.defer(() => rm(directory, { recursive: true }));
  canary = parts.use(await startCanary());
});
afterEach(async () => {
  expect(await canary.touched()).toEqual([]);
  expect((await readdir(directory)).filter((name) => name.startsWith('video-'))).toEqual([]);
});
afterAll(() => parts.disposeAsync());

function probed(source: CountedSource): Promise<Probe> {
  return probeMedia(source, { scratchDir: directory, maxPixels: 1e8, signal: AbortSignal.timeout(15_000) });
}

function format(probe: Probe): string {
  return probe.outcome === 'media' ? `${probe.type} ${probe.width}x${probe.height}` : probe.why;
}

test.each(hostileMedia)('$name: $found', async ({ make, zeros, found }) => {
  const source = new CountedSource(await make(canary), zeros ? { zeros } : {});
  const before = performance.now();
  const probe = await probed(source);
  expect(performance.now() - before).toBeLessThan(8000);
  if (found === 'refused') expect(probe.outcome).toBe('unsupported');
  else expect(format(probe)).toBe(found);
  expect(source.bytesRead).toBeLessThan(64 * MiB);
  expect(source.longestRead).toBeLessThanOrEqual(8 * MiB);
});

const photoTypes = ['jpg', 'png', 'gif', 'webp', 'avif', 'tiff', 'bmp'] as const;
const videoTypes = ['mp4', 'mov', '3gp', 'webm', 'mkv', 'avi', 'mpg', 'ts', 'ogv', 'flv', 'wmv'] as const;

test.each([...photoTypes, ...videoTypes])('refuses %s truncated anywhere, or finds its type', async (type) => {
  const size = { width: 160, height: 120 };
  const whole = await sample(type, size);
  for (const cut of cuts(whole.length, isPhoto(type))) {
    const found = format(await probed(new CountedSource(whole.subarray(0, cut))));
    if (!/^[a-z_]+$/.test(found)) expect(`${cut} bytes: ${found}`).toBe(`${cut} bytes: ${type} 160x120`);
  }
});

test.each([...photoTypes, ...videoTypes])('probes %s with bytes changed anywhere without failing', async (type) => {
  const whole = await sample(type, { width: 160, height: 120 });
  for (const at of cuts(Math.min(whole.length - 4, 2000), isPhoto(type))) {
    const bytes = Buffer.from(whole);
    bytes.fill(0xff, at, at + 4);
    expect(format(await probed(new CountedSource(bytes)))).toMatch(/^([a-z_]+|[a-z0-9]+ \d+x\d+)$/);
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

const leadingElsewhere = hostileMedia.filter(({ name }) =>
  /(playlist of a|manifest after|concat script$|concat script after|description$|SVG of|pictures in)/.test(name),
);

test.each(leadingElsewhere)('makes no video or picture of $name, whatever its type', async ({ make }) => {
  const path = join(directory, 'hostile');
  await writeFile(path, await make(canary));
  const options = { scratchDir: directory, maxPixels: 1e8, signal: AbortSignal.timeout(15_000) };
  const picture = { recipe: pictureRecipes.large, path: join(directory, 'picture') };
  expect(await renderPictures({ path, type: 'ts' }, [picture], options)).toMatchObject({ outcome: 'unsupported' });
  expect(await renderVideo({ path, type: 'mp4' }, join(directory, 'made'), options)).toMatchObject({
    outcome: 'unsupported',
  });
});

test('ignores lines that a title injects into the output', async () => {
  const title = 'x\nwidth=9999\nheight=9999';
  const options = ['-metadata', `title=${title}`, '-metadata:s:v', `handler_name=${title}`];
  const video = await sampleVideo('mp4', { width: 160, height: 120, options });
  expect(await probed(new CountedSource(video))).toMatchObject({ width: 160, height: 120 });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtPrograms } from '@echodrop/build/built-programs';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { medianOf } from '../figures.ts';
import { type Bench, rotate, startRoots } from '../scenario.ts';
import { type System, startEchodrop, uploadServices } from '../systems.ts';
import { renderUploads } from './renditions.ts';

const photos = ['1 MP', '12 MP'] as const;
const clip = '8 s 720p';
const system = 'echodrop';
const picturesAtOnce = 10;
const pauseMs = 50;

/** What the first reader of an upload waits for, and what its pictures cost, on an idle system as `npm start` runs it. */
export async function measureFirstView(bench: Bench): Promise<void> {
  await measureWaits(bench);
  await measurePrograms(bench);
}

/** Seconds from the response to an upload to what a page shows, one upload after another. */
async function measureWaits({ figures, samples, options }: Bench): Promise<void> {
  await using stack = await startStack();
  const media = new Map<string, Buffer>();
  for (const name of [...photos, clip] as const) media.set(name, await readFile(samples[name].path));
  // In the first round, code is compiled and files are read from the disk.
  for (let round = 0; round <= options.rounds; round += 1) {
    const add = (name: string, variant: string, seconds: number) =>
      round > 0 && figures.add(name, { system, variant, unit: 's' }, seconds);
    for (const name of photos) {
      const id = await uploaded(stack, media.get(name));
      const [page, direct] = await secondsUntil(stack, [`/${id}/large.webp`, `/${id}.jpg`]);
      add('first picture of a page', name, page);
      add('direct link', name, direct);
    }
    const id = await uploaded(stack, media.get(clip));
    const [poster, video] = await secondsUntil(stack, [`/${id}/large.jpg`, `/${id}/video.mp4`]);
    add('poster of a copied video', clip, poster);
    add('copied video plays', clip, video);
  }
  const deferred = await deferredJobs(stack);
  figures.add('copied videos that moved to the slow lane', { system, variant: clip, unit: '' }, deferred);
}

async function uploaded(stack: Stack, media: Buffer = Buffer.alloc(0)): Promise<string> {
  const { status, text } = await upload(stack, { media });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return JSON.parse(text).id;
}

/** Seconds until each path responds with 200, to readers who try again at once. */
async function secondsUntil<const P extends readonly string[]>(
  { site }: Stack,
  paths: P,
): Promise<{ [K in keyof P]: number }> {
  const begin = performance.now();
  const wait = async (path: string) => {
    for (;;) {
      const response = await fetch(`${site}${path}`, { signal: patientSignal() });
      await response.arrayBuffer();
      const ms = performance.now() - begin;
      if (response.ok) return ms / 1000;
      if (ms > patienceMs) throw new Error(`${path} still responds with ${response.status}`);
      await sleep(pauseMs);
    }
  };
  return (await Promise.all(paths.map(wait))) as { [K in keyof P]: number };
}

async function deferredJobs(stack: Stack): Promise<number> {
  const metrics = await stack.metrics('rendition-worker');
  const ends = metrics.matchAll(/^echodrop_rendition_job_seconds_count\{.*outcome="deferred".*\} (\d+)$/gm);
  return [...ends].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Processor time of the pictures of a photo with the programs that `npm start` runs, and with those of images. */
async function measurePrograms(bench: Bench): Promise<void> {
  const { figures, samples, shared, options } = bench;
  await using systems = new AsyncDisposableStack();
  const services = [...uploadServices, 'rendition-worker'] as const;
  const [images] = await startRoots(bench, systems, { services });
  const programs = await builtPrograms(services);
  const root = join(import.meta.dirname, '../../../..');
  const npmStart = systems.use(await startEchodrop(shared, { root, name: 'npm-start', services, programs }));
  const all = images ? [images, npmStart] : [];
  const variant = '1 MP';
  const costs = new Map<System, number[]>(all.map((each) => [each, []]));
  for (const each of all) await renderUploads(bench, each, samples[variant], 2);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const each of rotate(all, round)) {
      const { ms } = await renderUploads(bench, each, samples[variant], picturesAtOnce);
      figures.add('CPU of the pictures of one photo', { system: each.name, variant, unit: 'ms' }, ms);
      costs.get(each)?.push(ms);
    }
  }
  const [inImages = Number.NaN, underNpmStart = Number.NaN] = all.map((each) => medianOf(costs.get(each) ?? []));
  figures.add('pictures under npm start / in images', { system, variant, unit: '' }, underNpmStart / inImages);
}

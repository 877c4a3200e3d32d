import { readdir } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { fullRecipe, pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import { ToolStopped } from '@echodrop/media/sandbox/run-tool';
import { setSandboxMode } from '@echodrop/media/sandbox/sandbox';
import type { ToolBudget } from '@echodrop/media/sandbox/tool-limits';
import { mediaObjectKey, newMediaKey, renditionKey, userBlockKey } from '@echodrop/object-store/object-keys';
import { Deferred } from '@echodrop/queue/slow-lane';
import { holdDeadline } from '@echodrop/testkit/hostile/held-deadline';
import { type HostileFfprobe, hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { patienceMs } from '@echodrop/testkit/patience';
import { gif } from '@echodrop/testkit/samples/sample-animation';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { endFailedJob } from './failed-job.ts';
import { type LaneLimits, laneLimits } from './lane-limits.ts';
import { MediaRemoved } from './run-unless-removed.ts';
import { type TestWorker, testWorker } from './test-worker.fixture.ts';

const { PATH } = process.env;
const { execPath } = process;
let worker: TestWorker;
let video: Buffer;
let picture: Buffer;

beforeAll(async () => {
  worker = await testWorker();
  video = await sampleVideo('avi', { width: 64, height: 48 });
  picture = await samplePhoto('jpg', { width: 64, height: 48 });
});
afterEach(() => {
  Object.assign(process.env, { PATH });
  process.execPath = execPath;
  setSandboxMode('full');
});
afterAll(() => worker[Symbol.asyncDispose]());

type Job = Omit<RenditionRequest, 'mediaKey'>;

/** The limits of a lane, with other budgets for all tools. */
function withBudget(limits: LaneLimits, others: Partial<ToolBudget>): LaneLimits {
  const [video, still, pictures] = [limits.video, limits.still, limits.pictures].map((budget) => ({
    ...budget,
    ...others,
  })) as [ToolBudget, ToolBudget, ToolBudget];
  return { ...limits, video, still, pictures };
}

/** The limits of a lane, with elapsed time for a busy machine. */
const patient = (limits: LaneLimits) => withBudget(limits, { seconds: patienceMs / 1000 });

/** Renders in the quick lane, unless `others` say otherwise. */
function make(mediaKey: string, job: Job, others: Parameters<TestWorker['render']>[1] = {}): Promise<RenditionReply> {
  return worker.render({ mediaKey, ...job }, { limits: patient(laneLimits.quick), ...others });
}

const made = { outcome: 'made' };
const broken = { outcome: 'unsupported', why: 'broken' };
const tooCostly = { outcome: 'unsupported', why: 'too_costly' };
const photo: Job = { type: 'jpg', set: 'pictures' };
const videoJob: Job = { type: 'avi', set: 'film' };
const frame = { width: 40, height: 30 };

test('defers a video with a long estimate, and makes it in the slow lane', async () => {
  const mediaKey = await worker.upload(video);
  const limits = { ...patient(laneLimits.quick), estimatedSeconds: 0 };
  await expect(make(mediaKey, videoJob, { limits })).rejects.toThrow(Deferred);
  expect(await worker.keysOf(mediaKey)).toEqual([]);
  expect(await make(mediaKey, videoJob, { limits: laneLimits.slow })).toEqual(made);
  expect(await worker.keysOf(mediaKey)).toContain(renditionKey(mediaKey, videoRecipe));
});

test.each<[string, Job]>([
  ['the pictures of a photo of 100 megapixels', { type: 'png', set: 'pictures', pixels: 100_000_000 }],
  ['a video of 500 MB', { type: 'avi', set: 'film', bytes: 500_000_000 }],
])('defers %s before it fetches the media', async (_, job) => {
  const mediaKey = await worker.upload(video);
  const read = vi.spyOn(worker.store, 'read');
  await expect(make(mediaKey, job)).rejects.toThrow(Deferred);
  expect(read).not.toHaveBeenCalled();
});

test('makes pictures of a large photo in the slow lane', async () => {
  const mediaKey = await worker.upload(await samplePhoto('png', { width: 64, height: 48 }));
  const large: Job = { type: 'png', set: 'pictures', pixels: 100_000_000 };
  expect(await make(mediaKey, large, { limits: patient(laneLimits.slow) })).toEqual(made);
  expect(await worker.keysOf(mediaKey)).toContain(renditionKey(mediaKey, pictureRecipes.large));
});

test('makes pictures of a deferred video on request', async () => {
  const mediaKey = await worker.upload(video);
  const limits = { ...patient(laneLimits.quick), estimatedSeconds: 0 };
  expect(await make(mediaKey, { ...videoJob, set: 'pictures' }, { limits })).toEqual(made);
  expect(await worker.keysOf(mediaKey)).toContain(renditionKey(mediaKey, pictureRecipes.large));
});

test('defers a video whose pictures take too long', async () => {
  const mediaKey = await worker.upload(video);
  await using ffmpeg = await sleepyFfmpeg();
  const seconds = 1000;
  using deadline = holdDeadline(seconds * 1000);
  const making = make(mediaKey, videoJob, { limits: withBudget(laneLimits.quick, { seconds }) });
  making.catch(() => {});
  await ffmpeg.called();
  deadline.pass();
  await expect(making).rejects.toThrow(Deferred);
  expect(await ffmpeg.started()).toBe(1);
  await ffmpeg.allEnded(0);
  expect(await worker.keysOf(mediaKey)).toEqual([]);
});

test('makes the still pictures of a large animation, and the animation in the slow lane', async () => {
  const mediaKey = await worker.upload(gif(frame, { ...frame, colour: 'red' }, { ...frame, colour: 'blue' }));
  const animation: Job = { type: 'gif', set: 'pictures' };
  const limits = { ...patient(laneLimits.quick), animationPixels: 10 };
  await expect(make(mediaKey, animation, { limits })).rejects.toThrow(Deferred);
  expect(await worker.keysOf(mediaKey)).toContain(renditionKey(mediaKey, pictureRecipes.large));
  expect(await worker.keysOf(mediaKey)).not.toContain(renditionKey(mediaKey, fullRecipe('gif')));
  expect(await make(mediaKey, animation, { limits: patient(laneLimits.slow) })).toEqual(made);
  expect(await worker.keysOf(mediaKey)).toContain(renditionKey(mediaKey, fullRecipe('gif')));
});

test('does not retry broken media until the tools change', async () => {
  const mediaKey = await worker.upload(Buffer.from('\xff\xd8\xff but no picture', 'latin1'));
  expect(await make(mediaKey, photo)).toEqual(broken);
  await worker.store.put(mediaObjectKey(mediaKey), Readable.from([picture]));
  expect(await make(mediaKey, photo)).toEqual(broken);
  expect(await make(mediaKey, photo, { tools: 'later ones' })).toEqual(made);
});

test('does not retry in any lane what was too costly in the slow lane', async () => {
  const mediaKey = await worker.upload(video);
  const short = { ...patient(laneLimits.slow), estimatedSeconds: 0 };
  expect(await make(mediaKey, videoJob, { limits: short })).toEqual(tooCostly);
  for (const limits of Object.values(laneLimits)) expect(await make(mediaKey, videoJob, { limits })).toEqual(tooCostly);
});

test('does not retry a third time what timed out in the slow lane too', async () => {
  const mediaKey = await worker.upload(video);
  await using ffmpeg = await sleepyFfmpeg();
  const limits = withBudget(laneLimits.slow, { seconds: 0.6 });
  expect(await make(mediaKey, videoJob, { limits })).toEqual({ outcome: 'unsupported', why: 'timed_out' });
  expect(await make(mediaKey, videoJob, { limits })).toEqual({ outcome: 'unsupported', why: 'timed_out' });
  const before = await ffmpeg.started();
  for (const limits of Object.values(laneLimits)) expect(await make(mediaKey, videoJob, { limits })).toEqual(tooCostly);
  expect(await ffmpeg.started()).toBe(before);
});

test('does not retry a third time what stops its tool', async () => {
  const mediaKey = await worker.upload(video);
  await using ffmpeg = await replaceTool('kill -KILL $$');
  for (let time = 1; time <= 2; time += 1) await expect(make(mediaKey, videoJob)).rejects.toThrow(ToolStopped);
  const before = await ffmpeg.started();
  expect(await make(mediaKey, videoJob)).toEqual(tooCostly);
  expect(await ffmpeg.started()).toBe(before);
});

describe.each([
  ['slow', 10],
  ['quick', getPriority()],
] as const)('in the %s lane', (lane, niceness) => {
  test.each([
    ['ffmpeg', 'a video and its poster', videoJob],
    ['node', 'pictures', photo],
  ] as const)(`%s makes %s at nice ${niceness}`, async (program, _, job) => {
    const mediaKey = await worker.upload(video);
    await using tool = await replaceTool('mkdir -p "$folder/nice-$(nice)"; exit 1', program);
    await make(mediaKey, job, { limits: patient(laneLimits[lane]) }).catch(() => {});
    expect((await readdir(tool.folder)).filter((name) => name.startsWith('nice-'))).toEqual([`nice-${niceness}`]);
  });
});

test('stops pictures that take too long in the slow lane', async () => {
  const mediaKey = await worker.upload(video);
  await using node = await replaceTool('exec sleep 600', 'node');
  const limits = withBudget(laneLimits.slow, { seconds: 0.6 });
  expect(await make(mediaKey, photo, { limits })).toEqual({ outcome: 'unsupported', why: 'timed_out' });
  await node.allEnded(0);
});

test('in the quick lane, CPU time runs out first unless the machine is busy', () => {
  for (const { cpuSeconds, seconds } of [laneLimits.quick.video, laneLimits.quick.still, laneLimits.quick.pictures])
    expect(seconds).toBeGreaterThanOrEqual(2.5 * cpuSeconds);
});

test.each([
  ['ffmpeg', 'a video', videoJob],
  ['node', 'pictures', photo],
] as const)('defers %s that takes more CPU time for %s than its lane allows', async (program, _, job) => {
  const mediaKey = await worker.upload(program === 'ffmpeg' ? video : picture);
  await using tool = await replaceTool('while :; do :; done', program);
  const limits = withBudget(patient(laneLimits.quick), { cpuSeconds: 1 });
  await expect(make(mediaKey, job, { limits })).rejects.toThrow(Deferred);
  expect(await tool.started()).toBe(1);
});

test('reports how much of a transcoding is done', async () => {
  const shares: number[] = [];
  const long = await sampleVideo('avi', { width: 320, height: 240, seconds: 20 });
  const onProgress = (share: number) => shares.push(share);
  // At the priority of the slow lane, a busy machine takes a minute.
  const limits = withBudget(patient(laneLimits.slow), { niceness: 0 });
  expect(await make(await worker.upload(long), videoJob, { limits, onProgress })).toEqual(made);
  expect(shares.length).toBeGreaterThan(0);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  expect(shares.at(-1)).toBeGreaterThan(0.9);
  const copied = shares.length;
  const h264 = await sampleVideo('mp4', { width: 640, height: 480, seconds: 1 });
  await make(await worker.upload(h264), { type: 'mp4', set: 'film' }, { onProgress });
  expect(shares.length).toBe(copied);
});

test('makes media too costly that killed its workers twice', async () => {
  const once = await worker.upload(picture);
  const twice = await worker.upload(picture);
  const die = (mediaKey: string) => endFailedJob({ mediaKey, ...photo }, true, worker.deps);
  for (const mediaKey of [once, twice, twice]) await die(mediaKey);
  expect(await make(once, photo)).toEqual(made);
  expect(await make(twice, photo)).toEqual(tooCostly);
  const removed = newMediaKey();
  await die(removed);
  expect(await worker.keysOf(removed)).toEqual([]);
});

test('cancels a running job and its tool if the media is removed', async () => {
  const mediaKey = await worker.upload(video);
  await using ffmpeg = await sleepyFfmpeg();
  const making = make(mediaKey, videoJob, { limits: laneLimits.slow });
  making.catch(() => {});
  await ffmpeg.called();
  await worker.store.remove(mediaObjectKey(mediaKey));
  // Long before its time limit, which is ten minutes.
  await ffmpeg.allEnded();
  await expect(making).rejects.toThrow(MediaRemoved);
  expect(await worker.keysOf(mediaKey)).toEqual([]);
});

test('cancels a running job if the owner is blocked, and repeats it once unblocked', async () => {
  const mediaKey = await worker.upload(video);
  const owner = 'a'.repeat(32);
  const job = { ...videoJob, set: 'pictures' as const, owner };
  const ffmpeg = await sleepyFfmpeg();
  const making = make(mediaKey, job, { limits: laneLimits.slow });
  await ffmpeg.called();
  await worker.store.putIfAbsent(userBlockKey(owner), Buffer.from('{}'));
  expect(await making).toEqual({ outcome: 'unsupported', why: 'owner_blocked' });
  await ffmpeg.allEnded(0);
  await ffmpeg[Symbol.asyncDispose]();
  ffmpeg.wake();
  await worker.store.remove(userBlockKey(owner));
  expect(await make(mediaKey, job)).toEqual(made);
});

test('makes no rendition of a blocked owner, however fast', async () => {
  const mediaKey = await worker.upload(picture);
  const owner = 'a'.repeat(32);
  await worker.store.putIfAbsent(userBlockKey(owner), Buffer.from('{}'));
  const job = { mediaKey, type: 'jpg', set: 'pictures', owner } as const;
  expect(await make(mediaKey, job)).toEqual({ outcome: 'unsupported', why: 'owner_blocked' });
  expect(await worker.keysOf(mediaKey)).toEqual([]);
});

interface SleepyFfmpeg extends HostileFfprobe {
  /** Waits until it has been called so many times. */
  readonly called: (times?: number) => Promise<void>;
  /** Switches to the real ffmpeg. */
  readonly wake: () => void;
}

/** A script that replaces ffmpeg, or the process that makes pictures. */
async function replaceTool(script: string, program: 'ffmpeg' | 'node' = 'ffmpeg'): Promise<HostileFfprobe> {
  // The full sandbox forbids a script to start programs.
  setSandboxMode('limits-only');
  const tool = await hostileFfprobe(script, program);
  if (program === 'node') process.execPath = join(tool.folder, program);
  else process.env.PATH = tool.path;
  return tool;
}

/** An ffmpeg that sleeps. */
async function sleepyFfmpeg(): Promise<SleepyFfmpeg> {
  const ffmpeg = await replaceTool('exec sleep 600');
  return {
    ...ffmpeg,
    called: (times = 1) => waitUntil('a call of ffmpeg', async () => (await ffmpeg.started()) >= times),
    wake: () => {
      process.env.PATH = PATH;
    },
  };
}

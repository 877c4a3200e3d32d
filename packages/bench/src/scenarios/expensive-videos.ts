import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anotherUser } from '@echodrop/testkit/another-user';
import { made, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { signalIfRunning } from '@echodrop/testkit/signal-if-running';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { medianOf } from '../figures.ts';
import { childrenOf } from '../process-usage.ts';
import type { Bench } from '../scenario.ts';

const expensiveVideos = 100;
const tries = 5;
const readyMs = 90_000;
const deferredMs = 360_000;
const minWaiting = 0.9 * expensiveVideos;
// Twenty minutes.
const tensOfSeconds = 120;

/**
 * Measures when renditions of other owners are ready beside one owner's many expensive videos. Other load changes from minute to minute, so
 * both measurements alternate. While one runs, the slow lane is paused.
 */
export async function measureExpensiveVideos({ figures, samples }: Bench): Promise<void> {
  await using quiet = await startStack();
  await using crowded = await startStack();
  const photo = await readFile(samples['3 MB'].path);
  const short = await sampleVideo('avi', { width: 640, height: 360, seconds: 6 });
  const expensive = await expensiveVideo(crowded.folder);
  for (let n = 0; n < expensiveVideos; n += 1) {
    const { status, text } = await upload(crowded, { media: expensive });
    if (status !== 200) figures.fault('an expensive video', [`${status} ${text}`]);
  }
  await waitUntil(
    'most of them to wait in the slow lane',
    async () => (await waiting(crowded)) >= minWaiting,
    deferredMs,
  );
  const system = 'echodrop';
  for (const [variant, media, rendition] of [
    ['photo', photo, 'large-'],
    ['short video', short, 'film-'],
  ] as const) {
    const alone = [];
    const beside = [];
    // The first try compiles code and reads from the disk.
    for (let n = 0; n <= tries; n += 1) {
      await signalTool(crowded, 'SIGSTOP');
      alone.push(await readyAfter(quiet, media, rendition));
      await signalTool(crowded, 'SIGCONT');
      beside.push(await readyAfter(crowded, media, rendition));
    }
    const usual = medianOf(alone.slice(1));
    const ms = medianOf(beside.slice(1));
    figures.add('ready with nothing waiting', { system, variant, unit: 'ms' }, usual);
    figures.add(`ready beside ${expensiveVideos} expensive videos`, { system, variant, unit: 'ms' }, ms);
    figures.add('ready beside expensive videos / alone', { system, variant, unit: '' }, ms / usual);
  }
  const left = await waiting(crowded);
  figures.add('expensive videos still waiting at the end', { system, variant: '', unit: '' }, left);
}

/** Signals the tools that the slow lane runs. */
async function signalTool({ services }: Stack, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const worker = services['rendition-worker'].pid ?? 0;
  const running = () => childrenOf(worker);
  await waitUntil('a tool of the slow lane', async () => running().length > 0, readyMs);
  for (const pid of running()) signalIfRunning(pid, signal);
}

/** Milliseconds from the response to another owner's upload to its rendition in the store. */
async function readyAfter(stack: Stack, media: Buffer, rendition: string): Promise<number> {
  const before = new Set(await stack.stored('records'));
  const { status, text } = await upload(stack, { media, headers: anotherUser(stack) });
  const begin = performance.now();
  if (status !== 200) throw new Error(`${status} ${text}`);
  const record = (await stack.stored('records')).find((each) => !before.has(each)) ?? '';
  const { media_key: key } = JSON.parse(await readFile(join(stack.folder, 'store/objects/records', record), 'utf8'));
  const isReady = async () => {
    const names = await readdir(join(stack.folder, 'store/objects/renditions', key)).catch(() => []);
    return names.some((name) => name.startsWith(rendition));
  };
  await waitUntil(`${rendition} of ${record}`, isReady, readyMs);
  return performance.now() - begin;
}

/** A small file with 10 bits a sample: 2.2 s of processor time for each ten seconds. */
async function expensiveVideo(folder: string): Promise<Buffer> {
  const picture = ['-f', 'lavfi', '-i', 'smptebars=size=854x480:rate=25:duration=10'];
  const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le'];
  const ten = join(folder, 'ten-seconds.mp4');
  await writeFile(ten, await made([...picture, ...coded, '-f', 'mp4']));
  const repeated = ['-stream_loop', `${tensOfSeconds - 1}`, '-i', ten];
  return made([...repeated, '-c', 'copy', '-movflags', '+faststart', '-f', 'mp4']);
}

/** Jobs that wait in the slow lane. */
async function waiting({ redis }: Stack): Promise<number> {
  return Number(await redis.command('ZCARD', '{echodrop}:rendition-slow:prioritized'));
}

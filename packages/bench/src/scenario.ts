import { setTimeout as sleep } from 'node:timers/promises';
import { faultsOf } from './check-stored.ts';
import type { Figures } from './figures.ts';
import { generateLoad, type LoadResult } from './load.ts';
import type { Media, Samples } from './media.ts';
import type { Options } from './options.ts';
import { cpuMsOf } from './process-usage.ts';
import type { SharedServers } from './shared-servers.ts';
import { type EchodropOptions, type System, startEchodrop } from './systems.ts';

/** The dependencies of a scenario. */
export interface Bench {
  readonly options: Options;
  readonly shared: SharedServers;
  readonly samples: Samples;
  readonly figures: Figures;
}

export interface Batch {
  readonly result: LoadResult;
  /** Milliseconds of processor time per upload, by service. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** S3 calls of the whole batch, by kind. */
  readonly calls: Readonly<Record<string, number>>;
  /** The duration of the batch, including the work after the last response. */
  readonly seconds: number;
}

export interface BatchSize {
  readonly uploads: number;
  readonly connections: number;
}

// Work after the last response (listing entries, rendition jobs, log lines) is part of an upload's cost.
export const afterwardsMs = 300;

// Deletes all jobs, but not what the queue itself must keep.
const dropRenditions = `for _, key in ipairs(redis.call('KEYS', '{echodrop}:rendition*')) do
  if not key:match(':meta$') and not key:match(':id$') then redis.call('DEL', key) end
end`;

/** Sends uploads to a system, as forms unless `send` differs, and measures what they cost. Wrong responses, records and bytes are faults of the run. Rendition jobs are dropped. */
export async function runBatch(
  { shared, figures }: Bench,
  system: System,
  media: Media,
  size: BatchSize,
  send: typeof generateLoad = generateLoad,
): Promise<Batch> {
  const { kind, ports } = system;
  await shared.take(system.bucket);
  let before = cpuOf(system);
  let begin = performance.now();
  const begun = () => {
    [before, begin] = [cpuOf(system), performance.now()];
  };
  const result = await send({ kind, ports, media, ...size }, begun);
  await sleep(afterwardsMs);
  const after = cpuOf(system);
  const seconds = (performance.now() - begin) / 1000;
  const { calls, objects, unfinished } = await shared.take(system.bucket);
  figures.fault(`${system.name}, ${media.name}`, faultsOf(kind, media, result, objects));
  if (unfinished > 0)
    figures.fault(`${system.name}, ${media.name}`, [`${unfinished} uploads in parts were not finished`]);
  await system.redis?.command('EVAL', dropRenditions, '0');
  const cpuMs = Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / size.uploads] as const);
  return { result, cpuMs: Object.fromEntries(cpuMs), calls, seconds };
}

/** The sum over all services. */
export function totalOf({ cpuMs }: Batch): number {
  return Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0);
}

/** Warms a system up: its code is compiled while it serves. */
export async function warmUp(bench: Bench, system: System, media: Media): Promise<void> {
  await runBatch(bench, system, media, warmUps[media.name] ?? { uploads: 4, connections: 2 });
}

const warmUps: Record<string, BatchSize> = {
  '200 KB': { uploads: 6000, connections: 8 },
  '3 MB': { uploads: 60, connections: 8 },
};

/** Starts Echodrop from every checkout of the options: `echodrop`, and for the second one `echodrop-2` and so on. */
export async function startRoots(
  { shared, options }: Bench,
  stack: AsyncDisposableStack,
  more: Omit<EchodropOptions, 'root'> = {},
): Promise<System[]> {
  const started = [];
  for (const [n, root] of options.roots.entries()) {
    const name = n === 0 ? 'echodrop' : `echodrop-${n + 1}`;
    started.push(stack.use(await startEchodrop(shared, { root, name, profiles: options.profiles, ...more })));
  }
  return started;
}

/** Rotates a list by the round, so that none is always first. */
export function rotate<T>(all: readonly T[], round: number): T[] {
  const at = round % Math.max(all.length, 1);
  return [...all.slice(at), ...all.slice(0, at)];
}

/** Milliseconds of processor time of each service so far. */
export function cpuOf({ processes }: System): Record<string, number> {
  return Object.fromEntries(Object.entries(processes).map(([service, pids]) => [service, cpuMsOf(pids)]));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { sweep } from '@echodrop/archive/sweep';
import { mediaPrefix, renditionsPrefix } from '@echodrop/object-store/object-keys';
import type { System } from '../start-system.ts';
import type { Finding } from './finding.ts';
import { keysBelow, type RecordInStore } from './stored-records.ts';

const queues = ['probe-photos', 'probe-films', 'rendition-pictures', 'rendition-films', 'rendition-slow'];
const lengths = { wait: 'LLEN', active: 'LLEN', prioritized: 'ZCARD', delayed: 'ZCARD', paused: 'LLEN' } as const;
// Store times are whole seconds, so objects of the current second must count as old.
const noMinimumAge = -2000;
const pollMs = 250;

/** Waits while the backlog shrinks; finds jobs that remain after `stuckMs` without progress. */
export async function findStuckJobs(system: System, stuckMs: number): Promise<Finding[]> {
  let least = Number.POSITIVE_INFINITY;
  for (let since = performance.now(); ; await sleep(pollMs)) {
    const left = await jobsLeft(system);
    const count = left.reduce((sum, { jobs }) => sum + jobs, 0);
    if (count < least) [least, since] = [count, performance.now()];
    if (count > 0 && performance.now() - since < stuckMs) continue;
    return left.map(({ queue, state, jobs }) => ({
      scenario: 'all',
      what: `${jobs} jobs remain`,
      which: `${queue} ${state}`,
    }));
  }
}

async function jobsLeft({ queueRedis, redisSet }: System) {
  const redis = (await redisSet?.master()) ?? queueRedis;
  const states = queues.flatMap((queue) =>
    Object.entries(lengths).map(([state, command]) => ({ queue, state, command })),
  );
  const counted = states.map(async ({ queue, state, command }) => {
    const jobs = Number(await redis.command(command, `{echodrop}:${queue}:${state}`));
    return { queue, state, jobs };
  });
  return (await Promise.all(counted)).filter(({ jobs }) => jobs > 0);
}

/** Sweeps, then finds orphans and incomplete multipart uploads that remain. */
export async function findOrphans({ store }: System, records: ReadonlyMap<string, RecordInStore>): Promise<Finding[]> {
  const { report, failure, incomplete } = await sweep(store, {
    olderThanMs: noMinimumAge,
    dryRun: false,
  });
  process.stdout.write(`swept: ${JSON.stringify(report.kinds)}\n`);
  const finding = (what: string, which: string): Finding => ({ scenario: 'all', what, which });
  const named = new Set([...records.values()].map((record) => record.media_key));
  const keys = [...(await keysBelow(store, mediaPrefix)), ...(await keysBelow(store, renditionsPrefix))];
  const orphans = keys.filter((key) => !named.has(key.split('/')[1] ?? ''));
  const unfinished = await Array.fromAsync(store.listUnfinishedWrites(), ({ id }) => id);
  return [
    ...[failure, incomplete]
      .filter((error) => error !== undefined)
      .map((error) => finding('the sweep failed', String(error))),
    ...orphans.map((key) => finding('orphan after a sweep', key)),
    ...unfinished.map((id) => finding('incomplete multipart upload after a sweep', id)),
  ];
}

import { sweep } from '@echodrop/archive/sweep';
import { allMedia, allRenditions } from '@echodrop/object-store/object-keys';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { System } from '../start-system.ts';
import type { Finding } from './finding.ts';
import { keysBelow, type RecordInStore } from './stored-records.ts';

const queues = [
  'probe-photos',
  'probe-films',
  'rendition-pictures',
  'rendition-films',
  'rendition-medium',
  'rendition-slow',
];
const lengths = { wait: 'LLEN', active: 'LLEN', prioritized: 'ZCARD', delayed: 'ZCARD', paused: 'LLEN' } as const;
// The store's clock tells seconds: what was written in this one is old as well.
const nothingIsYoung = -2000;

/** Which jobs no worker has ended when workers had so much time for it. */
export async function findStuckJobs(system: System, withinMs: number): Promise<Finding[]> {
  let left: Finding[] = [];
  await waitUntil('an end of all jobs', withinMs, async () => {
    left = await jobsLeft(system);
    return left.length === 0;
  }).catch(() => {});
  return left;
}

async function jobsLeft({ queueRedis, redisSet }: System): Promise<Finding[]> {
  const redis = (await redisSet?.master()) ?? queueRedis;
  const states = queues.flatMap((queue) =>
    Object.entries(lengths).map(([state, command]) => ({ queue, state, command })),
  );
  const told = states.map(async ({ queue, state, command }) => {
    const jobs = Number(await redis.command(command, `{echodrop}:${queue}:${state}`));
    return jobs > 0 ? [{ scenario: 'all', what: `${jobs} jobs are left`, which: `${queue} ${state}` }] : [];
  });
  return (await Promise.all(told)).flat();
}

/** Sweeps, and finds what is there after it that no record names, and uploads in parts that were never finished. */
export async function findOrphans({ store }: System, records: ReadonlyMap<string, RecordInStore>): Promise<Finding[]> {
  const { report, failure } = await sweep(store, {
    olderThanMs: nothingIsYoung,
    isDryRun: false,
    signal: new AbortController().signal,
  });
  process.stdout.write(`swept: ${JSON.stringify(report.kinds)}\n`);
  const finding = (what: string, which: string): Finding => ({ scenario: 'all', what, which });
  const named = new Set([...records.values()].map((record) => record.media_key));
  const keys = [...(await keysBelow(store, allMedia)), ...(await keysBelow(store, allRenditions))];
  const orphans = keys.filter((key) => !named.has(key.split('/')[1] ?? ''));
  const unfinished = await Array.fromAsync(store.unfinished(), ({ id }) => id);
  return [
    ...(failure === undefined ? [] : [finding('the sweep failed', String(failure))]),
    ...orphans.map((key) => finding('no record names it after a sweep', key)),
    ...unfinished.map((id) => finding('an upload in parts was never finished', id)),
  ];
}

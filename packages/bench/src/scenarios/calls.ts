import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../figures.ts';
import type { SizeName } from '../media.ts';
import { type RedisCounts, RedisMonitor } from '../redis-monitor.ts';
import { type Batch, type Bench, runBatch, startRoots, warmUp } from '../scenario.ts';

const uploadsOf: Record<SizeName, number> = { '200 KB': 200, '3 MB': 50, '100 MiB': 4 };
const idleSeconds = 12;
// Every gateway reads the blocks every five seconds, at any load.
const background = 'List blocks';

/** Counts S3 calls and Redis commands per upload, without the Redis commands of an idle system. */
export async function measureCalls(bench: Bench): Promise<void> {
  await using systems = new AsyncDisposableStack();
  for (const system of await startRoots(bench, systems)) {
    for (const size of bench.options.sizes) await warmUp(bench, system, bench.samples[size]);
    using monitor = await RedisMonitor.start(system.redis?.port ?? 0);
    await sleep(idleSeconds * 1000);
    const idle = monitor.take();
    for (const size of bench.options.sizes) {
      const load = { uploads: uploadsOf[size], connections: bench.options.connections };
      monitor.take();
      const batch = await runBatch(bench, system, bench.samples[size], load);
      const counted = perUpload(monitor.take(), idle, batch.seconds / idleSeconds, load.uploads);
      const labels = { system: system.name, variant: size, unit: '' };
      addRedisFigures(bench.figures, labels, counted);
      addS3Figures(bench.figures, labels, batch, load.uploads);
    }
  }
}

function perUpload(
  { scripts, others }: RedisCounts,
  idle: RedisCounts,
  idleTimes: number,
  uploads: number,
): RedisCounts {
  const less = (all: number, whenIdle = 0) => Math.max(0, all - whenIdle * idleTimes) / uploads;
  const named = Object.entries(others).map(([name, count]) => [name, less(count, idle.others[name])] as const);
  return {
    scripts: less(scripts, idle.scripts),
    others: Object.fromEntries(named.filter(([, count]) => count > 0.005)),
  };
}

type Labels = Parameters<Figures['add']>[1];

function addRedisFigures(figures: Figures, labels: Labels, { scripts, others }: RedisCounts): void {
  figures.add('BullMQ scripts per upload', labels, scripts);
  figures.add('Redis commands outside scripts per upload', labels, sum(Object.entries(others)));
  for (const [name, count] of Object.entries(others)) figures.add(`Redis commands per upload: ${name}`, labels, count);
}

function addS3Figures(figures: Figures, labels: Labels, { calls }: Batch, uploads: number): void {
  const own = Object.entries(calls).filter(([name]) => name !== background);
  const lists = own.filter(([name]) => name.startsWith('List'));
  figures.add('S3 calls per upload', labels, sum(own) / uploads);
  figures.add('List calls per upload', labels, sum(lists) / uploads);
  for (const [name, count] of own) figures.add(`S3 calls per upload: ${name}`, labels, count / uploads);
}

function sum(counts: readonly (readonly [name: string, count: number])[]): number {
  return counts.reduce((all, [, count]) => all + count, 0);
}

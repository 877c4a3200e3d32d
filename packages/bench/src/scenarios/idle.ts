import { setTimeout as sleep } from 'node:timers/promises';
import { proportionalMiB, runMsOf } from '../process-usage.ts';
import { type Bench, startRoots } from '../scenario.ts';
import { measuredServices } from '../systems.ts';

const settleSeconds = 10;
const seconds = 20;

/** What a system without uploads costs: processor time in percent of one core, and memory. */
export async function measureIdle(bench: Bench): Promise<void> {
  const { figures } = bench;
  await using systems = new AsyncDisposableStack();
  for (const system of await startRoots(bench, systems, { services: measuredServices })) {
    const processes = Object.entries({ ...system.processes, redis: [system.redis?.pid ?? 0] });
    const look = () => new Map(processes.map(([name, pids]) => [name, runMsOf(pids)]));
    await sleep(settleSeconds * 1000);
    const before = look();
    await sleep(seconds * 1000);
    const spent = [...look()].map(([name, ms]) => [name, percent(ms - (before.get(name) ?? 0))] as const);
    for (const [variant, value] of spent)
      figures.add('idle processor time', { system: system.name, variant, unit: '%' }, value);
    const total = spent.reduce((sum, [, value]) => sum + value, 0);
    figures.add('idle processor time, all services and Redis', { system: system.name, unit: '%' }, total);
    for (const [variant, pids] of processes) {
      const value = pids.reduce((sum, pid) => sum + proportionalMiB(pid), 0);
      figures.add('idle proportional memory', { system: system.name, variant, unit: 'MiB' }, value);
    }
  }
}

function percent(ms: number): number {
  return ms / seconds / 10;
}

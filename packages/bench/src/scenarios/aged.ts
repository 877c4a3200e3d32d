import { setTimeout as sleep } from 'node:timers/promises';
import { agedSuffix } from '../goals.ts';
import { holdHalfSent } from '../half-sent.ts';
import type { SizeName } from '../media.ts';
import { residentMiB } from '../process-usage.ts';
import { type BatchSize, type Bench, rotate, runBatch, startRoots, totalOf, warmUp } from '../scenario.ts';
import { type System, startPeer } from '../systems.ts';
import { formOf, uploadHeaders, uploadPathOf } from '../upload-request.ts';

// The day of a busy community: 50,000 uploads. The small ones at the end take longer than the minute for which the gateway keeps the memory
// of large ones, so what remains is not for uploads.
const day: readonly (readonly [SizeName, BatchSize])[] = [
  ['200 KB', { uploads: 24_000, connections: 128 }],
  ['3 MB', { uploads: 2000, connections: 128 }],
  ['100 MiB', { uploads: 24, connections: 8 }],
  ['200 KB', { uploads: 24_000, connections: 128 }],
];
const halfSent = 64;
const heldMs = 2000;
const pauseMs = 3 * 60_000;
const quietMs = 5 * 60_000;
const maxRounds = 3;

const measured: Record<SizeName, number> = { '200 KB': 3000, '3 MB': 96, '100 MiB': 12 };

/**
 * What an upload costs in processes that have served for a day. Each round begins with a pause, after which a fresh system, the aged one and the
 * aged peers take turns.
 */
export async function measureAged(bench: Bench): Promise<void> {
  const { options, shared } = bench;
  await using systems = new AsyncDisposableStack();
  const aged = await startRoots(bench, systems);
  const naive = systems.use(await startPeer(shared, 'naive'));
  const passThrough = systems.use(await startPeer(shared, 'pass-through'));
  for (const system of aged) {
    await spendDay(bench, system);
    addMemory(bench, system, 'after the day');
  }
  for (const size of options.sizes)
    for (const peer of [naive, passThrough]) await warmUp(bench, peer, bench.samples[size]);
  for (let round = 0; round < Math.min(options.rounds, maxRounds); round += 1) {
    await sleep(pauseMs);
    await using fresh = new AsyncDisposableStack();
    const young = await startRoots(bench, fresh);
    for (const size of options.sizes) {
      for (const system of young) await warmUp(bench, system, bench.samples[size]);
      await measureRound(bench, size, round, { aged, young, naive, passThrough });
    }
  }
  await sleep(quietMs);
  for (const system of aged) addMemory(bench, system, 'after five quiet minutes');
}

function addMemory({ figures }: Bench, { name, processes }: System, when: string): void {
  for (const [service, [pid = 0]] of Object.entries(processes))
    figures.add(`resident memory of an aged ${service}, ${when}`, { system: name, unit: 'MiB' }, residentMiB(pid));
}

async function spendDay(bench: Bench, system: System): Promise<void> {
  for (const [size, load] of day) {
    await runBatch(bench, system, bench.samples[size], load);
    await sendHalves(bench, system);
  }
}

async function sendHalves({ figures, samples }: Bench, system: System): Promise<void> {
  const form = Buffer.concat(formOf(samples['4 MiB']));
  const requests = Array.from({ length: halfSent }, () => ({
    path: uploadPathOf('echodrop'),
    headers: uploadHeaders('echodrop', form.length),
  }));
  figures.fault(`${system.name}, half-sent`, await holdHalfSent(system, requests, form, () => sleep(heldMs)));
}

interface Compared {
  readonly aged: readonly System[];
  readonly young: readonly System[];
  readonly naive: System;
  readonly passThrough: System;
}

async function measureRound(bench: Bench, size: SizeName, round: number, compared: Compared): Promise<void> {
  const { aged, young, naive, passThrough } = compared;
  const load = { uploads: measured[size], connections: bench.options.connections };
  const costs = new Map<System, { readonly gateway: number; readonly total: number }>();
  for (const system of rotate([naive, passThrough, ...young, ...aged], round)) {
    const batch = await runBatch(bench, system, bench.samples[size], load);
    costs.set(system, { gateway: batch.cpuMs['gateway'] ?? 0, total: totalOf(batch) });
  }
  const costOf = (system?: System) => (system && costs.get(system)) ?? { gateway: Number.NaN, total: Number.NaN };
  for (const [n, system] of aged.entries()) {
    const add = (name: string, value: number, unit = '') =>
      bench.figures.add(name, { system: system.name, variant: `${size}${agedSuffix}`, unit }, value);
    const { gateway, total } = costOf(system);
    add('CPU of gateway', gateway, 'ms');
    add('gateway / the same when young', gateway / costOf(young[n]).gateway);
    add('upload path / naive', total / costOf(naive).total);
    add('gateway / naive', gateway / costOf(naive).total);
    add('pass-through / gateway', costOf(passThrough).total / gateway);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { agedSuffix } from '../goals.ts';
import { holdHalfSent, newUpload } from '../half-sent.ts';
import type { SizeName } from '../media.ts';
import { residentMiB } from '../process-usage.ts';
import { type BatchSize, type Bench, rotate, runBatch, startRoots, warmUp } from '../scenario.ts';
import { type System, startPeer } from '../systems.ts';
import { formOf } from '../upload-request.ts';
import { addCosts, sendInTurn } from './upload.ts';

// The day of a busy community. The gateway frees memory that no upload has needed for one to two minutes. The small uploads at the end last
// longer, so no memory remains of the large and half-sent ones. They are several batches, because the null S3 keeps what it gets in one.
const beforeEnd: readonly (readonly [SizeName, BatchSize])[] = [
  ['200 KB', { uploads: 4000, connections: 128 }],
  ['3 MB', { uploads: 2000, connections: 128 }],
  ['100 MiB', { uploads: 24, connections: 8 }],
];
const atEnd = { ms: 150_000, load: { uploads: 12_000, connections: 128 } };
const halfSent = 64;
const heldMs = 2000;
const pauseMs = 3 * 60_000;
const quietMs = 5 * 60_000;
const maxRounds = 3;

/**
 * What an upload costs in processes that have served for a day. Each round begins with a pause, after which a fresh system, the aged one and the
 * aged peers take turns.
 */
export async function measureAged(bench: Bench): Promise<void> {
  const { options, shared } = bench;
  await using systems = new AsyncDisposableStack();
  const aged = await startRoots(bench, systems);
  const peers = [systems.use(await startPeer(shared, 'naive')), systems.use(await startPeer(shared, 'pass-through'))];
  for (const system of aged) {
    await spendDay(bench, system);
    addMemory(bench, system, 'after the day');
  }
  for (const size of options.sizes) for (const peer of peers) await warmUp(bench, peer, bench.samples[size]);
  for (let round = 0; round < Math.min(options.rounds, maxRounds); round += 1) {
    await sleep(pauseMs);
    await measureRound(bench, round, aged, peers);
  }
  await sleep(quietMs);
  for (const system of aged) addMemory(bench, system, 'after five quiet minutes');
}

async function measureRound(bench: Bench, round: number, aged: readonly System[], peers: readonly System[]) {
  await using fresh = new AsyncDisposableStack();
  const young = await startRoots(bench, fresh);
  for (const size of bench.options.sizes) {
    for (const system of young) await warmUp(bench, system, bench.samples[size]);
    const batches = await sendInTurn(bench, size, rotate([...peers, ...young, ...aged], round));
    const gatewayOf = (system?: System) => (system && batches.get(system)?.cpuMs['gateway']) ?? Number.NaN;
    for (const [n, system] of aged.entries()) {
      const labels = { system: system.name, variant: size, unit: '' };
      bench.figures.add('aged gateway / young', labels, gatewayOf(system) / gatewayOf(young[n]));
    }
    // Its name is that of the aged system.
    for (const system of young) batches.delete(system);
    addCosts(bench, `${size}${agedSuffix}`, batches);
  }
}

function addMemory({ figures }: Bench, { name, processes }: System, when: string): void {
  for (const [service, [pid = 0]] of Object.entries(processes))
    figures.add(`resident memory of an aged ${service}, ${when}`, { system: name, unit: 'MiB' }, residentMiB(pid));
}

async function spendDay(bench: Bench, system: System): Promise<void> {
  for (const [size, load] of beforeEnd) {
    await sendHalves(bench, system);
    await runBatch(bench, system, bench.samples[size], load);
  }
  await sendHalves(bench, system);
  const end = performance.now() + atEnd.ms;
  while (performance.now() < end) await runBatch(bench, system, bench.samples['200 KB'], atEnd.load);
}

async function sendHalves({ figures, samples }: Bench, system: System): Promise<void> {
  const form = Buffer.concat(formOf(samples['4 MiB']));
  const requests = Array.from({ length: halfSent }, () => newUpload(form.length));
  figures.fault(`${system.name}, half-sent`, await holdHalfSent(system, requests, form, () => sleep(heldMs)));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type HeldRequest, holdHalfSent, newUpload } from '../half-sent.ts';
import { bytesOf } from '../media.ts';
import { forgetPeak, peakMiB, residentMiB } from '../process-usage.ts';
import { type Bench, runBatch, startRoots, warmUp } from '../scenario.ts';
import { createResumable, newProof, pieceHeaders } from '../send-pieces.ts';
import type { System } from '../systems.ts';
import { formOf } from '../upload-request.ts';

const MiB = 1024 * 1024;
const maxRounds = 3;
const one = { uploads: 1, connections: 1 };
// Enough to load and compile the code.
const few = { uploads: 64, connections: 8 };
const halfSent = 64;
const stableMs = 500;
const maxPolls = 40;

/** Measures the gateway's memory during large uploads, and during uploads that do not end. */
export async function measureMemory(bench: Bench): Promise<void> {
  const rounds = Math.min(bench.options.rounds, maxRounds);
  for (let round = 0; round < rounds; round += 1) {
    for (const measure of [measureHalfSent, measureHalfSentPieces, measureLarge]) {
      // Each with new systems: memory that one leaves free would hide the use of the other.
      await using systems = new AsyncDisposableStack();
      for (const system of await startRoots(bench, systems)) await measure(bench, system);
    }
  }
}

async function measureLarge(bench: Bench, system: System): Promise<void> {
  await warmUp(bench, system, bench.samples['100 MiB']);
  const pid = gatewayOf(system);
  const peakAt = async (size: '100 MiB' | '1 GiB') => {
    forgetPeak(pid);
    await runBatch(bench, system, bench.samples[size], one);
    const peak = peakMiB(pid);
    bench.figures.add('most resident memory of the gateway', { system: system.name, variant: size, unit: 'MiB' }, peak);
    return peak;
  };
  const small = await peakAt('100 MiB');
  const more = (await peakAt('1 GiB')) - small;
  bench.figures.add('resident memory at 1 GiB less at 100 MiB', { system: system.name, unit: 'MiB' }, more);
}

async function measureHalfSent(bench: Bench, system: System): Promise<void> {
  const form = Buffer.concat(formOf(bench.samples['4 MiB']));
  await measureHeld(bench, system, 'uploads', form, async () => newUpload(form.length));
}

async function measureHalfSentPieces(bench: Bench, system: System): Promise<void> {
  const media = bench.samples['4 MiB'];
  const begin = async () => {
    const proof = newProof();
    const path = await createResumable(system.ports[0] ?? 0, media.size, proof);
    return { path, headers: { ...pieceHeaders(0, proof), 'X-HTTP-Method-Override': 'PATCH' } };
  };
  await measureHeld(bench, system, 'resumable uploads', Buffer.concat(bytesOf(media)), begin);
}

async function measureHeld(
  bench: Bench,
  system: System,
  what: string,
  body: Buffer,
  begin: () => Promise<HeldRequest>,
) {
  const { figures, samples } = bench;
  await runBatch(bench, system, samples['200 KB'], few);
  // After the batch, which empties the bucket.
  const requests = await Promise.all(Array.from({ length: halfSent }, begin));
  const pid = gatewayOf(system);
  const before = residentMiB(pid);
  const refused = await holdHalfSent(system, requests, body, async () => {
    const heldMiB = (await awaitStable(() => residentMiB(pid))) - before;
    const ratio = heldMiB / ((requests.length * body.length) / 2 / MiB);
    figures.add(`memory of 64 half-sent ${what} / their bytes`, { system: system.name, unit: '' }, ratio);
  });
  figures.fault(`${system.name}, half-sent ${what}`, refused);
}

/** Waits until a value stops growing. */
async function awaitStable(value: () => number): Promise<number> {
  let last = value();
  for (let look = 0; look < maxPolls; look += 1) {
    await sleep(stableMs);
    const next = value();
    if (Math.abs(next - last) < 1) return next;
    last = next;
  }
  return last;
}

function gatewayOf({ processes }: System): number {
  return processes['gateway']?.[0] ?? 0;
}

import { type Bench, rotate, runBatch, startRoots, totalOf, warmUp } from '../scenario.ts';
import { sendPieces } from '../send-pieces.ts';
import type { System } from '../systems.ts';

const load = { uploads: 24, connections: 8 };

/** What a resumable upload in pieces of 8 MiB costs of processor time, beside the same bytes in one request. */
export async function measureResumable(bench: Bench): Promise<void> {
  const media = bench.samples['100 MiB'];
  await using systems = new AsyncDisposableStack();
  const all = await startRoots(bench, systems);
  for (const system of all) {
    await warmUp(bench, system, media);
    await runBatch(bench, system, media, load, sendPieces);
  }
  for (let round = 0; round < bench.options.rounds; round += 1)
    for (const system of rotate(all, round)) await compare(bench, system);
}

async function compare(bench: Bench, system: System): Promise<void> {
  const { figures, samples } = bench;
  const media = samples['100 MiB'];
  const whole = totalOf(await runBatch(bench, system, media, load));
  const pieces = totalOf(await runBatch(bench, system, media, load, sendPieces));
  const labels = { system: system.name, variant: media.name };
  figures.add('CPU in one request', { ...labels, unit: 'ms' }, whole);
  figures.add('CPU in pieces of 8 MiB', { ...labels, unit: 'ms' }, pieces);
  figures.add('pieces of 8 MiB / one request', { ...labels, unit: '' }, pieces / whole);
}

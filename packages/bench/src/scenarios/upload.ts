import type { SizeName } from '../media.ts';
import { type Batch, type BatchSize, type Bench, rotate, runBatch, startRoots, totalOf, warmUp } from '../scenario.ts';
import { type System, startPeer } from '../systems.ts';

const uploadsOf: Record<SizeName, number> = { '200 KB': 3000, '3 MB': 96, '100 MiB': 12 };

/** What an upload costs of processor time: Echodrop's services beside the naive server and the pass-through. */
export async function measureUploads(bench: Bench): Promise<void> {
  const { options, samples } = bench;
  await using systems = new AsyncDisposableStack();
  const echodrops = await startRoots(bench, systems);
  const naive = systems.use(await startPeer(bench.shared, 'naive'));
  const passThrough = systems.use(await startPeer(bench.shared, 'pass-through'));
  // The naive server warms the load generator up: the first system measured a seventh above the same one again.
  const all: System[] = [naive, passThrough, ...echodrops];
  for (const size of options.sizes) {
    for (const system of all) await warmUp(bench, system, samples[size]);
    for (let round = 0; round < options.rounds; round += 1)
      addCosts(bench, size, await sendInTurn(bench, size, rotate(all, round)));
  }
}

/** Sends uploads of one size to each system, one system after another. */
export async function sendInTurn(
  bench: Bench,
  size: SizeName,
  systems: readonly System[],
): Promise<Map<System, Batch>> {
  const { options, samples } = bench;
  const batches = new Map<System, Batch>();
  const load: BatchSize = { uploads: uploadsOf[size], connections: options.connections };
  for (const system of systems) batches.set(system, await runBatch(bench, system, samples[size], load));
  return batches;
}

/** Adds what an upload costs each system, and the ratios of Echodrop's costs to those of its peers. */
export function addCosts({ figures }: Bench, variant: string, batches: ReadonlyMap<System, Batch>): void {
  const costs = new Map([...batches].map(([{ name }, batch]) => [name, totalOf(batch)]));
  const naive = costs.get('naive') ?? 0;
  const passThrough = costs.get('pass-through') ?? 0;
  for (const [{ kind, name: system }, batch] of batches) {
    const labels = { system, variant };
    for (const [service, ms] of Object.entries(batch.cpuMs))
      figures.add(`CPU of ${service}`, { ...labels, unit: 'ms' }, ms);
    if (kind !== 'echodrop') continue;
    const gateway = batch.cpuMs['gateway'] ?? 0;
    figures.add('CPU of the upload path', { ...labels, unit: 'ms' }, totalOf(batch));
    figures.add('upload path / naive', { ...labels, unit: '' }, totalOf(batch) / naive);
    figures.add('gateway / naive', { ...labels, unit: '' }, gateway / naive);
    figures.add('pass-through / gateway', { ...labels, unit: '' }, passThrough / gateway);
  }
}

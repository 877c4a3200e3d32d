import { medianOf } from '../figures.ts';
import { type Bench, rotate, runBatch, startRoots, warmUp } from '../scenario.ts';
import { type System, startPeer } from '../systems.ts';

const load = { uploads: 150, connections: 1 };
const size = '200 KB';

/** How long an upload takes when it is the only one. */
export async function measureLatency(bench: Bench): Promise<void> {
  const { samples, figures, options } = bench;
  await using systems = new AsyncDisposableStack();
  const echodrops = await startRoots(bench, systems);
  const naive = systems.use(await startPeer(bench.shared, 'naive'));
  const all = [...echodrops, naive];
  for (const system of all) await warmUp(bench, system, samples[size]);
  for (let round = 0; round < options.rounds; round += 1) {
    const middles = new Map<System, number>();
    for (const system of rotate(all, round)) {
      const { result } = await runBatch(bench, system, samples[size], load);
      middles.set(system, medianOf(result.latenciesMs));
    }
    const compared = middles.get(naive) ?? 0;
    for (const [{ kind, name: system }, ms] of middles) {
      figures.add('idle p50', { system, variant: size, unit: 'ms' }, ms);
      if (kind === 'echodrop') figures.add('idle p50 / naive', { system, variant: size, unit: '' }, ms / compared);
    }
  }
}

import { type BatchSize, type Bench, rotate, runBatch, startRoots, totalOf, warmUp } from '../scenario.ts';
import { type System, startPeer } from '../systems.ts';

const size = '200 KB';
const uploads = 2048;
// Eight for each of four gateways.
const spreadConnections = 32;

/** Compares the cost of an upload at 128 connections and at 8. */
export async function measureConnections(bench: Bench): Promise<void> {
  await using systems = new AsyncDisposableStack();
  for (const system of await startRoots(bench, systems)) {
    await warmUp(bench, system, bench.samples[size]);
    await compare(bench, 'cost at 128 connections / at 8', [
      { system, load: { uploads, connections: 128 } },
      { system, load: { uploads, connections: 8 } },
    ]);
  }
}

/**
 * Compares the cost of an upload with four gateways and with one. The naive server is the control: its processes share nothing, so its ratio is
 * what the machine takes for running four instead of one.
 */
export async function measureGateways(bench: Bench): Promise<void> {
  await using systems = new AsyncDisposableStack();
  const ones = await startRoots(bench, systems);
  const fours = await startRoots(bench, systems, { gateways: 4 });
  ones.push(systems.use(await startPeer(bench.shared, 'naive')));
  fours.push(systems.use(await startPeer(bench.shared, 'naive', 4)));
  for (const [n, one] of ones.entries()) {
    const four = fours[n] ?? one;
    // Each of the four must be warm.
    for (const system of [one, four, four, four, four]) await warmUp(bench, system, bench.samples[size]);
    const load = { uploads, connections: spreadConnections };
    const name = one.kind === 'naive' ? 'cost with 4 processes / with 1 (control)' : 'cost with 4 gateways / with 1';
    await compare(bench, name, [
      { system: four, load },
      { system: one, load },
    ]);
  }
}

interface Way {
  readonly system: System;
  readonly load: BatchSize;
}

/** Adds the ratio of the first cost to the second. */
async function compare(bench: Bench, name: string, ways: readonly [Way, Way]): Promise<void> {
  for (let round = 0; round < bench.options.rounds; round += 1) {
    const costs = new Map<Way, number>();
    for (const way of rotate(ways, round)) {
      costs.set(way, totalOf(await runBatch(bench, way.system, bench.samples[size], way.load)));
    }
    const ratio = (costs.get(ways[0]) ?? 0) / (costs.get(ways[1]) ?? 0);
    bench.figures.add(name, { system: ways[0].system.name, variant: size, unit: '' }, ratio);
  }
}

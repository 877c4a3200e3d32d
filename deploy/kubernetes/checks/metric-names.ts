import { globSync, readFileSync } from 'node:fs';
import { type Manifest, ofKind } from './manifests.ts';

const root = new URL('../../../', import.meta.url).pathname;

interface ScaledObjectSpec {
  readonly minReplicaCount?: number;
  readonly triggers: readonly { readonly name: string; readonly metadata: { readonly query: string } }[];
}

let sources: string | undefined;

/** Finds ScaledObjects that scale to zero, or query metrics or queues that no code names and so would never find data. */
export function checkMetricNames(manifests: readonly Manifest[]): string[] {
  return ofKind<ScaledObjectSpec>(manifests, 'ScaledObject').flatMap(({ title, spec }) => {
    const { minReplicaCount = 0, triggers } = spec;
    const faults = triggers.flatMap(({ name, metadata: { query } }) =>
      queryFaults(query).map((fault) => `${name}: ${fault}`),
    );
    if (minReplicaCount < 1) faults.push('scales to zero');
    return faults.map((fault) => `${title}, ${fault}`);
  });
}

function queryFaults(query: string): string[] {
  sources ??= globSync('{packages,services}/*/src/**/*.ts', { cwd: root })
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
    .join('\n');
  const named = sources;
  const metrics = query.match(/\bechodrop_\w+/g) ?? [];
  const queues = query.match(/queue=~?"([^"]+)"/)?.[1]?.split('|') ?? [];
  const unknown = [
    ...metrics.filter((word) => !new RegExp(`\\b${word}\\b`).test(named)),
    ...queues.filter((word) => !named.includes(`'${word}'`)),
  ];
  // Every gateway reports the queues.
  const isAggregated = /^max(\(max)? by \(queue\) /.test(query);
  return [...unknown.map((word) => `no code names ${word}`), ...(isAggregated ? [] : ['gateways are not aggregated'])];
}

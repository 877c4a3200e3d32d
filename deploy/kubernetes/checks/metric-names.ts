import { globSync, readFileSync } from 'node:fs';
import { type Manifest, ofKind } from './manifests.ts';

const root = new URL('../../../', import.meta.url).pathname;

interface Scaling {
  readonly minReplicaCount?: number;
  readonly triggers: readonly {
    readonly type: string;
    readonly name: string;
    readonly metadata: { readonly query: string };
  }[];
}

/** Queries of ScaledObjects for metrics or queues that no code names (they would never find data), and ScaledObjects that scale to zero. */
export function metricNameFaults(manifests: readonly Manifest[]): string[] {
  const scaled = ofKind<Scaling>(manifests, 'ScaledObject');
  if (scaled.length === 0) return [];
  code ??= readCode();
  const named = code;
  return scaled.flatMap(({ metadata, spec: { minReplicaCount = 0, triggers } }) => [
    ...(minReplicaCount >= 1 ? [] : [`ScaledObject ${metadata.name} goes down to nothing`]),
    ...triggers.flatMap(({ name, metadata: { query } }) => {
      const metrics = query.match(/\bechodrop_\w+/g) ?? [];
      const queues = query.match(/queue=~?"([^"]+)"/)?.[1]?.split('|') ?? [];
      return [
        ...metrics.filter((word) => !new RegExp(`\\b${word}\\b`).test(named)),
        ...queues.filter((word) => !named.includes(`'${word}'`)),
      ]
        .map((word) => `ScaledObject ${metadata.name}, ${name}: no code names ${word}`)
        .concat(
          /^max(\(max)? by \(queue\) /.test(query)
            ? []
            : [`ScaledObject ${metadata.name}, ${name}: gateways are not joined`],
        );
    }),
  ]);
}

let code: string | undefined;

function readCode(): string {
  return globSync('{packages,services}/*/src/**/*.ts', { cwd: root })
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
    .join('\n');
}

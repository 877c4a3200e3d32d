import { type Manifest, ofKind, type Workload, workloadsOf } from './manifests.ts';
import { serviceOf } from './settings.ts';

const background = ['rendition-worker', 'sweeper'];

/** Finds pods without a priority, and those that would not displace what matters less: Redis and the store, then services, then background work. */
export function checkPriorities(manifests: readonly Manifest[]): string[] {
  const classes = new Map(ofKind(manifests, 'PriorityClass').map(({ metadata, value }) => [metadata.name, value ?? 0]));
  const ranked = workloadsOf(manifests).map((workload) => ({
    name: workload.name,
    rank: rankOf(workload),
    value: classes.get(workload.pod.priorityClassName ?? ''),
  }));
  return ranked.flatMap(({ name, rank, value }) => {
    if (value === undefined) return [`${name} has no priority`];
    const higher = ranked.find((other) => other.rank < rank && (other.value ?? 0) >= value);
    return higher ? [`${name} cannot displace ${higher.name}`] : [];
  });
}

function rankOf({ name, pod }: Workload): number {
  if (background.includes(name)) return 0;
  return pod.containers.some(serviceOf) ? 1 : 2;
}

import { type Manifest, ofKind, type PodSpec, quantity, type Workload, workloadsOf } from './checks/manifests.ts';

// The smallest nodes of overlays with their own store, and of those without (docs/host/kubernetes.md).
const smallNode = { cpus: 2, gibibytes: 4 };
const largeNode = { cpus: 4, gibibytes: 4 };
const nodeCount = 3;
/** What each node needs for the system, the Ingress controller and other add-ons. */
const reserved = { cpus: 0.5, gibibytes: 1 };
const gibibyte = 1024 ** 3;

interface Size {
  readonly cpus: number;
  readonly gibibytes: number;
}
interface Pod extends Size {
  readonly name: string;
  readonly isAlone: boolean;
}
interface HpaSpec {
  readonly scaleTargetRef: { readonly name: string };
  readonly minReplicas: number;
}

/** Finds pods that the minimum cluster could not start while one of its nodes is drained and every Deployment is updated. */
export function checkClusterSize(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests).filter(({ kind }) => kind !== 'CronJob');
  const size = workloads.some(({ kind }) => kind === 'StatefulSet') ? smallNode : largeNode;
  const nodes = Array.from({ length: nodeCount - 1 }, () => new Node(size));
  // The largest pods come first: otherwise they may find only gaps.
  const pods = workloads
    .flatMap((workload) => podsOf(workload, manifests))
    .sort((one, other) => other.gibibytes - one.gibibytes || other.cpus - one.cpus);
  const left = pods
    .filter((pod) => !nodes.some((node) => node.takes(pod)))
    .filter(({ name, isAlone }) => !(isAlone && nodes.every((node) => node.has(name))));
  const names = [...new Set(left.map(({ name }) => name))];
  return names.length > 0 ? [`the minimum cluster with one node drained cannot start ${names.join(', ')}`] : [];
}

class Node {
  readonly #size: Size;
  readonly #pods: Pod[] = [];

  constructor(size: Size) {
    this.#size = size;
  }

  has(name: string): boolean {
    return this.#pods.some((pod) => pod.name === name);
  }

  takes(pod: Pod): boolean {
    if (pod.isAlone && this.has(pod.name)) return false;
    const used = (part: keyof Size) => [...this.#pods, pod].reduce((sum, each) => sum + each[part], reserved[part]);
    if (used('cpus') > this.#size.cpus || used('gibibytes') > this.#size.gibibytes) return false;
    this.#pods.push(pod);
    return true;
  }
}

/** The replicas of a workload, and those that an update adds. */
function podsOf({ name, pod, replicas, maxSurge }: Workload, manifests: readonly Manifest[]): Pod[] {
  const scaler = ofKind<HpaSpec>(manifests, 'HorizontalPodAutoscaler').find(
    ({ spec }) => spec.scaleTargetRef.name === name,
  );
  const count = replicas ?? scaler?.spec.minReplicas ?? 1;
  const surge = /%$/.test(`${maxSurge}`) ? Math.ceil((count * Number.parseInt(`${maxSurge}`, 10)) / 100) : maxSurge;
  const isAlone = pod.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined;
  return Array.from({ length: count + Number(surge ?? 0) }, () => ({ name, isAlone, ...requestsOf(pod) }));
}

function requestsOf({ containers, initContainers = [] }: PodSpec): Size {
  // Our init containers are sidecars, which stay.
  const requests = [...initContainers, ...containers].map(({ resources }) => resources?.requests ?? {});
  const sum = (name: string) => requests.reduce((total, each) => total + quantity(each[name]), 0);
  return { cpus: sum('cpu'), gibibytes: sum('memory') / gibibyte };
}

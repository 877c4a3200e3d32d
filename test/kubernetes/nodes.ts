import { waitUntil } from '@echodrop/testkit/wait-until';
import { type Cluster, nodes } from './cluster.ts';

interface Pod {
  readonly name: string;
  readonly node: string;
  /** Not terminating, and all of its containers are ready. */
  readonly isReady: boolean;
}

/** The pods that have not ended. */
export async function podsOf({ kubectl }: Cluster, ...selector: string[]): Promise<Pod[]> {
  interface Listed {
    readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
    readonly spec: { readonly nodeName: string };
    readonly status: { readonly phase: string; readonly containerStatuses?: readonly { readonly ready: boolean }[] };
  }
  const { items } = JSON.parse(await kubectl('get', 'pods', ...selector, '--output=json')) as { items: Listed[] };
  const lasting = items.filter(({ status }) => status.phase !== 'Succeeded' && status.phase !== 'Failed');
  return lasting.map(({ metadata, spec, status: { containerStatuses = [] } }) => ({
    name: metadata.name,
    node: spec.nodeName,
    isReady:
      metadata.deletionTimestamp === undefined &&
      containerStatuses.length > 0 &&
      containerStatuses.every(({ ready }) => ready),
  }));
}

/** The node of a pod. */
export async function nodeOf(cluster: Cluster, name: string): Promise<string> {
  const pod = (await podsOf(cluster)).find((each) => each.name === name);
  if (!pod) throw new Error(`there is no pod ${name}`);
  return pod.node;
}

/** A node that runs none of these pods. */
export async function nodeWithout(cluster: Cluster, ...names: string[]): Promise<string> {
  const used = await Promise.all(names.map((name) => nodeOf(cluster, name)));
  const node = nodes.find((each) => !used.includes(each));
  if (!node) throw new Error(`all nodes run one of ${names}`);
  return node;
}

export async function drain({ kubectl }: Cluster, node: string): Promise<void> {
  await kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=9m');
}

export async function waitForNode({ kubectl }: Cluster, node: string, state: 'Ready' | 'NotReady'): Promise<void> {
  await waitUntil(
    `${node} ${state}`,
    async () => (await kubectl('get', 'node', node, '--no-headers')).split(/[ ,]+/).includes(state),
    360_000,
  );
}

import { buildImages, version } from '../containers/compose-system.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { images, otherImages } from './deployed-system.ts';

const spread = [
  {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
  },
];

/** Vitest's global setup: the images and a cluster for the whole run. KEEP_CLUSTER=1 leaves the cluster running. */
export async function setup(): Promise<() => Promise<void>> {
  const cluster = await startCluster();
  const seconds = await buildImages();
  process.stdout.write(`Built the images in ${Math.round(seconds)} s\n`);
  await cluster.load([...images.map((image) => `${image}:${version}`), ...otherImages]);
  await setUpDns(cluster);
  return async () => {
    if (process.env['KEEP_CLUSTER'] !== '1') await cluster.down();
  };
}

/** Two pods on different nodes, as `ha` requires. They cache addresses for 30 seconds. */
async function setUpDns({ kubectl }: Cluster): Promise<void> {
  const system = '--namespace=kube-system';
  const patch = { spec: { replicas: 2, template: { spec: { topologySpreadConstraints: spread } } } };
  await kubectl('patch', 'deployment', 'coredns', system, '--patch', JSON.stringify(patch));
  await kubectl('rollout', 'status', 'deployment/coredns', system, '--timeout=3m');
}

import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { sandbox } from '@echodrop/testkit/start-stack';
import { stringify } from 'yaml';
import { ownImages } from '../../deploy/kubernetes/overlay/kustomization.ts';
import { makeSecrets, queueRedisOfHa } from '../../deploy/made-secrets.fixture.ts';
import { root, version } from '../containers/compose-system.ts';
import { startBalancer } from './balancer.ts';
import type { Cluster } from './cluster.ts';

/** This machine, as pods reach it, and the network from which the nodes forward what it sends to a Service. */
const machine = '10.89.0.254';
const machineNetwork = '10.89.0.0/24';

export const images = ownImages.map((name) => `echodrop/${name}`);
/** Those of docker-compose.yml that the overlays use. */
export const otherImages = ['redis:8-bookworm', 'docker.io/pgsty/silo:RELEASE.2026-09-03T13-18-01Z'];
export const deployments = ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker', 'cache-redis'];
export const statefulSets = ['store', 'queue-redis'];

/** An overlay in the cluster. Disposing removes it with its volumes. */
export interface DeployedSystem extends AsyncDisposable {
  readonly gateway: string;
  readonly site: string;
  readonly provider: string;
  /** Waits until all pods are as their Deployments and StatefulSets describe. */
  settled(): Promise<void>;
}

/** Applies an overlay with the images of these tests, and an identity provider on this machine. */
export async function deploy(cluster: Cluster, overlay: 'small' | 'ha'): Promise<DeployedSystem> {
  await using parts = new AsyncDisposableStack();
  const { kubectl } = cluster;
  const { port, origin } = await startProvider(parts);
  const provider = `${origin}/1/account/verify_credentials.json`;
  await kubectl('apply', '--filename', join(root, 'deploy/kubernetes/base/namespace.yaml'));
  parts.defer(async () => {
    await kubectl('delete', 'namespace', 'echodrop', '--timeout=9m');
  });
  await createSecrets(cluster, overlay);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-overlay-'));
  const base = relative(folder.path, join(root, 'deploy/kubernetes/overlays', overlay));
  await writeFile(join(folder.path, 'kustomization.yaml'), stringify(kustomization(base, provider)));
  const documents = policies(port).map((policy) => stringify(policy));
  await writeFile(join(folder.path, 'policies.yaml'), documents.join('---\n'));
  await kubectl('apply', '--kustomize', folder.path);
  const settled = async () => {
    const all = [
      ...statefulSets.map((name) => `statefulset/${name}`),
      ...deployments.map((name) => `deployment/${name}`),
    ];
    for (const name of all) await kubectl('rollout', 'status', name, '--timeout=9m');
  };
  await settled();
  const gateway = parts.use(await startBalancer(cluster, 'gateway', 8080));
  const site = parts.use(await startBalancer(cluster, 'site', 8081));
  const held = parts.move();
  return {
    gateway: gateway.origin,
    site: site.origin,
    provider,
    settled,
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function createSecrets({ kubectl }: Cluster, overlay: 'small' | 'ha'): Promise<void> {
  await using made = await makeSecrets(overlay === 'ha' ? { QUEUE_REDIS_ADDRESS: queueRedisOfHa } : {});
  await kubectl('create', 'secret', 'generic', 'echodrop-secrets', `--from-file=${made.folder}`);
  const key = { stringData: { API_KEYS: sandbox.apiKey } };
  await kubectl('patch', 'secret', 'echodrop-secrets', '--patch', JSON.stringify(key));
}

/** Starts a sandbox provider on this machine, which `parts` ends. */
export async function startProvider(
  parts: AsyncDisposableStack,
): Promise<{ readonly port: number; readonly origin: string }> {
  const port = await freePort();
  const opsPort = await freePort();
  parts.use(
    await ServerProcess.start({
      command: [process.execPath, join(root, 'services/sandbox-provider/src/main.ts')],
      env: { HOST: machine, PORT: `${port}`, OPS_PORT: `${opsPort}`, LOG_LEVEL: 'warn' },
      isReady: () => fetch(`http://${machine}:${opsPort}/readyz`).then(({ ok }) => ok),
    }),
  );
  return { port, origin: `http://${machine}:${port}` };
}

function kustomization(overlay: string, provider: string) {
  const merged = (name: string, ...literals: string[]) => ({ name, behavior: 'merge', literals });
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'echodrop',
    resources: [overlay, 'policies.yaml'],
    images: images.map((name) => ({ name, newTag: version })),
    configMapGenerator: [
      merged('gateway', 'UPLOADS_PER_MINUTE_PER_USER=0'),
      merged('auth-verifier', `IDENTITY_PROVIDERS=${provider}`),
    ],
  };
}

/** What an Ingress controller and a provider outside of the cluster need: this machine is both. */
function policies(providerPort: number) {
  const policy = (name: string, pods: string, spec: object) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name },
    spec: { podSelector: { matchLabels: { 'app.kubernetes.io/name': pods } }, ...spec },
  });
  const from = (port: number) => ({
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ ipBlock: { cidr: machineNetwork } }], ports: [{ protocol: 'TCP', port }] }],
  });
  const toProvider = {
    policyTypes: ['Egress'],
    egress: [{ to: [{ ipBlock: { cidr: `${machine}/32` } }], ports: [{ protocol: 'TCP', port: providerPort }] }],
  };
  return [
    policy('from-machine-to-gateway', 'gateway', from(8080)),
    policy('from-machine-to-site', 'site', from(8081)),
    policy('verifier-to-machine', 'auth-verifier', toProvider),
  ];
}

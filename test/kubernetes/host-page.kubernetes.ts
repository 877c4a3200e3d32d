import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../containers/compose-system.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { startProvider } from './deployed-system.ts';
import { followHostPage } from './host-page.ts';
import { restoreIntoNewInstallation } from './host-tasks.ts';
import { installResourceDefinitions } from './resource-definitions.ts';
import { startTraefik, type Traefik } from './traefik.ts';

const parts = new AsyncDisposableStack();
let cluster: Cluster;
let traefik: Traefik;
let folder: string;
beforeAll(async () => {
  cluster = await startCluster();
  await installResourceDefinitions(cluster);
  traefik = parts.use(await startTraefik(cluster));
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-host-page-'))).path;
});
afterAll(() => parts.disposeAsync());

test('the commands of the page lead to an upload over HTTPS, through Traefik', async () => {
  const { origin: provider } = await startProvider(parts);
  parts.defer(async () => {
    await cluster.kubectl('delete', 'namespace', 'echodrop', '--ignore-not-found', '--timeout=9m');
  });
  const { id, url } = await followHostPage(cluster, { folder, ingress: traefik.address, provider });
  expect(url).toBe(`https://media.example/${id}`);
});

test('a backup through the API server is restored into a new installation', async () => {
  await restoreIntoNewInstallation(cluster, folder);
});

test('the API server accepts the overlay large, with KEDA and the Prometheus Operator', async () => {
  const overlay = join(root, 'deploy/kubernetes/overlays/large');
  await cluster.kubectl('apply', '--filename', join(root, 'deploy/kubernetes/base/namespace.yaml'));
  const applied = await cluster.kubectl('apply', '--server-side', '--dry-run=server', '--kustomize', overlay);
  expect(applied).toContain('scaledobject.keda.sh/rendition-worker serverside-applied (server dry run)');
  expect(applied).toContain('prometheusrule.monitoring.coreos.com/');
});

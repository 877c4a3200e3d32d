import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { goModule } from './go-modules.ts';
import { traefikModule } from './traefik-program.ts';

/** Where Go modules have the resource definitions that components need. */
const files = {
  [traefikModule]: 'docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml',
  'github.com/kedacore/keda/v2@v2.21.0': 'config/crd/bases',
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': 'example/prometheus-operator-crd',
};

/** Installs the resource definitions of Traefik, KEDA and the Prometheus Operator, so that the API server validates theirs. */
export async function installResourceDefinitions({ kubectl }: Cluster): Promise<void> {
  for (const [module, path] of Object.entries(files))
    await kubectl('apply', '--server-side', '--filename', join(await goModule(module), path));
  await kubectl('wait', '--for=condition=Established', 'customresourcedefinition', '--all', '--timeout=1m');
}

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { root } from '../containers/compose-system.ts';
import type { Cluster } from './cluster.ts';
import { goModule } from './go-modules.ts';
import { buildTraefik, traefikModule } from './traefik-program.ts';

const image = 'echodrop-test/traefik:3.7.13';
const namespace = 'traefik';
const labels = { 'app.kubernetes.io/name': 'traefik' };
const account = 'traefik-ingress-controller';
const ports = [
  { name: 'web', containerPort: 8000, port: 80 },
  { name: 'websecure', containerPort: 8443, port: 443 },
];

export interface Traefik extends AsyncDisposable {
  /** The IP address of its Service, with the ports 80 and 443. */
  readonly address: string;
  /** What its pods logged. */
  logs(): Promise<string>;
}

/** Starts Traefik as its Helm chart does with traefik-values.yaml. Needs the resource definitions. */
export async function startTraefik({ kubectl, kubectlWith, load }: Cluster): Promise<Traefik> {
  const program = await buildTraefik();
  const dockerfile = 'FROM scratch\nCOPY traefik /traefik\nENTRYPOINT ["/traefik"]\n';
  await execa('docker', ['build', '--tag', image, '--file', '-', dirname(program)], { input: dockerfile });
  await load([image]);
  const values = parse(await readFile(join(root, 'deploy/kubernetes/traefik-values.yaml'), 'utf8')) as Values;
  const manifests = [...objects(values), ...(await permissions())];
  const documents = manifests.map((manifest) => stringify(manifest)).join('---\n');
  await kubectlWith(documents, '--namespace', namespace, 'apply', '--filename', '-');
  await kubectl('--namespace', namespace, 'rollout', 'status', 'deployment/traefik', '--timeout=5m');
  const path = 'jsonpath={.spec.clusterIP}';
  return {
    address: await kubectl('--namespace', namespace, 'get', 'service', 'traefik', '--output', path),
    logs: () => kubectl('--namespace', namespace, 'logs', '--selector', 'app.kubernetes.io/name=traefik', '--tail=-1'),
    [Symbol.asyncDispose]: async () => {
      await kubectl('delete', 'namespace', namespace, '--timeout=2m');
    },
  };
}

interface Values {
  readonly additionalArguments: readonly string[];
  readonly deployment: { readonly replicas: number };
  readonly topologySpreadConstraints: readonly object[];
  readonly tolerations: readonly object[];
}

function objects(values: Values): object[] {
  const metadata = { name: 'traefik', namespace, labels };
  const container = {
    name: 'traefik',
    image,
    args: [
      ...ports.map(({ name, containerPort }) => `--entryPoints.${name}.address=:${containerPort}`),
      '--ping',
      '--providers.kubernetesIngress.allowEmptyServices',
      '--providers.kubernetesCRD.allowEmptyServices',
      ...values.additionalArguments,
    ],
    ports: [
      ...ports.map(({ name, containerPort }) => ({ name, containerPort })),
      { name: 'ping', containerPort: 8080 },
    ],
    readinessProbe: { httpGet: { path: '/ping', port: 'ping' } },
  };
  const { topologySpreadConstraints, tolerations } = values;
  const spec = { serviceAccountName: account, containers: [container], topologySpreadConstraints, tolerations };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'traefik' },
      spec: { controller: 'traefik.io/ingress-controller' },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: values.deployment.replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: ports.map(({ name, port }) => ({ name, port, targetPort: name })) },
    },
  ];
}

/** Those that Traefik documents, for our namespace. */
async function permissions(): Promise<object[]> {
  const path = 'docs/content/reference/dynamic-configuration/kubernetes-crd-rbac.yml';
  const documents = parseAllDocuments(await readFile(join(await goModule(traefikModule), path), 'utf8'));
  return documents.map((document) => {
    const manifest = document.toJS() as { subjects?: object[] };
    return manifest.subjects
      ? { ...manifest, subjects: [{ kind: 'ServiceAccount', name: account, namespace }] }
      : manifest;
  });
}

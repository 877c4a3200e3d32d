import {
  type Container,
  checkContainers,
  faultsIf,
  type Manifest,
  ofKind,
  type ServiceSpec,
  selectsPods,
  type Workload,
  workloadsOf,
} from './manifests.ts';
import { settingsOf } from './settings.ts';

interface IngressSpec {
  readonly rules: readonly { readonly http: { readonly paths: readonly { readonly backend: Backend }[] } }[];
}
interface Backend {
  readonly service: { readonly name: string; readonly port: { readonly name: string } };
}

/** Finds ports without a listener, and addresses without a service. */
export function checkPorts(manifests: readonly Manifest[]): string[] {
  return [
    ...checkContainers(manifests, (container, workload) => containerFaults(container, workload, manifests)),
    ...serviceFaults(manifests),
    ...ingressFaults(manifests),
  ];
}

function containerFaults(container: Container, { kind, pod }: Workload, manifests: readonly Manifest[]): string[] {
  const { config } = settingsOf(container, pod, manifests);
  const declared = Object.fromEntries((container.ports ?? []).map((port) => [port.name, port.containerPort]));
  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
  const probePorts = probes.flatMap((probe) => (probe?.httpGet ?? probe?.tcpSocket)?.port ?? []);
  const probePaths = probes.map((probe) => `${probe?.httpGet?.port}${probe?.httpGet?.path}`);
  const addresses = [config['VERIFIER_URL'], config['S3_ENDPOINT']].filter((value) => typeof value === 'string');
  const lacksProbe = kind !== 'CronJob' && pod.containers.includes(container) && probes.includes(undefined);
  return [
    ...faultsIf({
      'http is not PORT': 'PORT' in config && declared['http'] !== config['PORT'],
      'ops is not OPS_PORT': 'OPS_PORT' in config && declared['ops'] !== config['OPS_PORT'],
      'listens on loopback only': config.HOST?.startsWith('127.'),
      'lacks a probe': lacksProbe,
      // Liveness must not depend on Redis or the store: their outage would restart the process.
      [`probes use ${probePaths}`]: 'OPS_PORT' in config && `${probePaths}` !== 'ops/livez,ops/readyz,ops/livez',
    }),
    ...probePorts.filter((port) => !(port in declared)).map((port) => `a probe uses ${port}, which is not declared`),
    ...addresses.flatMap((address) => addressFaults(new URL(address), manifests)),
  ];
}

function addressFaults({ hostname, port, origin }: URL, manifests: readonly Manifest[]): string[] {
  if (hostname.includes('.')) return [];
  const service = ofKind<ServiceSpec>(manifests, 'Service').find(({ metadata }) => metadata.name === hostname);
  return service?.spec.ports.some((each) => String(each.port) === port) ? [] : [`no Service is at ${origin}`];
}

function serviceFaults(manifests: readonly Manifest[]): string[] {
  return ofKind<ServiceSpec>(manifests, 'Service').flatMap(({ title, spec }) => {
    const targets = workloadsOf(manifests)
      .filter((workload) => selectsPods({ matchLabels: spec.selector }, workload))
      .map(({ pod }) => pod.containers.flatMap(({ ports = [] }) => ports));
    return spec.ports
      .filter(({ port, targetPort }) => {
        const isTarget = (each: { name: string; containerPort: number }) =>
          each.name === targetPort && each.containerPort === port;
        return !targets.every((ports) => ports.some(isTarget));
      })
      .map(({ port, targetPort }) => `${title}: ${port} does not lead to ${targetPort}`);
  });
}

function ingressFaults(manifests: readonly Manifest[]): string[] {
  const services = ofKind<ServiceSpec>(manifests, 'Service');
  const exists = ({ service: { name, port } }: Backend) =>
    services.some(({ metadata, spec }) => metadata.name === name && spec.ports.some((each) => each.name === port.name));
  const middlewares = ofKind(manifests, 'Middleware').map(({ metadata }) => `echodrop-${metadata.name}@kubernetescrd`);
  return ofKind<IngressSpec>(manifests, 'Ingress').flatMap(({ title, metadata: { annotations }, spec: { rules } }) => [
    ...rules
      .flatMap(({ http }) => http.paths)
      .filter(({ backend }) => !exists(backend))
      .map(() => `${title}: its backend does not exist`),
    ...(annotations?.['traefik.ingress.kubernetes.io/router.middlewares'] ?? '')
      .split(',')
      .filter((name) => name !== '' && !middlewares.includes(name))
      .map((name) => `${title}: there is no middleware ${name}`),
  ]);
}

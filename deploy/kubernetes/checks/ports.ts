import {
  type Container,
  type Labels,
  type Manifest,
  ofKind,
  selects,
  type Workload,
  workloadsOf,
} from './manifests.ts';
import { settingsOf } from './settings.ts';

interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly targetPort: string | number;
}
interface ServiceSpec {
  readonly selector: Labels;
  readonly ports: readonly ServicePort[];
}
interface IngressSpec {
  readonly tls?: readonly { readonly hosts: readonly string[] }[];
  readonly rules: readonly {
    readonly host: string;
    readonly http: { readonly paths: readonly { readonly backend: { readonly service: Backend } }[] };
  }[];
}
interface Backend {
  readonly name: string;
  readonly port: { readonly name: string };
}

/** Reports ports without a listener, addresses without a service, and hosts that differ from the settings. */
export function portFaults(manifests: readonly Manifest[]): string[] {
  return [
    ...workloadsOf(manifests).flatMap((workload) =>
      workload.pod.containers.flatMap((container) => containerFaults(container, workload, manifests)),
    ),
    ...ofKind<ServiceSpec>(manifests, 'Service').flatMap((service) => serviceFaults(service, manifests)),
    ...ingressFaults(manifests),
  ];
}

function containerFaults(
  container: Container,
  { name, kind, pod }: Workload,
  manifests: readonly Manifest[],
): string[] {
  const { config } = settingsOf(container, pod, manifests);
  const declared = Object.fromEntries((container.ports ?? []).map((port) => [port.name, port.containerPort]));
  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
  const addresses = [config['VERIFIER_URL'], config['S3_ENDPOINT']].filter((value) => typeof value === 'string');
  return [
    ...('PORT' in config && declared['http'] !== config['PORT'] ? [`${name}: http is not PORT`] : []),
    ...('OPS_PORT' in config && declared['ops'] !== config['OPS_PORT'] ? [`${name}: ops is not OPS_PORT`] : []),
    ...(config.HOST?.startsWith('127.') ? [`${name}: listens for itself alone`] : []),
    ...(kind !== 'CronJob' && probes.some((probe) => probe === undefined) ? [`${name}: lacks a probe`] : []),
    ...probes.flatMap((probe) => {
      const { port } = probe?.httpGet ?? probe?.tcpSocket ?? {};
      return port === undefined || port in declared ? [] : [`${name}: a probe asks ${port}, which is no port of it`];
    }),
    ...('OPS_PORT' in config ? probePathFaults(container, name) : []),
    ...addresses.flatMap((address) => addressFaults(new URL(address), name, manifests)),
  ];
}

// Redis or a store that is down must not have a process killed.
function probePathFaults({ startupProbe, readinessProbe, livenessProbe }: Container, name: string): string[] {
  const probes = [startupProbe, readinessProbe, livenessProbe].map(
    (probe) => `${probe?.httpGet?.port}${probe?.httpGet?.path}`,
  );
  return `${probes}` === 'ops/livez,ops/readyz,ops/livez' ? [] : [`${name}: probes use ${probes}`];
}

function addressFaults({ hostname, port, origin }: URL, name: string, manifests: readonly Manifest[]): string[] {
  if (hostname.includes('.')) return [];
  const service = ofKind<ServiceSpec>(manifests, 'Service').find(({ metadata }) => metadata.name === hostname);
  return service?.spec.ports.some((each) => String(each.port) === port) ? [] : [`${name}: ${origin} leads nowhere`];
}

function serviceFaults(
  { metadata: { name }, spec }: { metadata: Manifest['metadata']; spec: ServiceSpec },
  manifests: readonly Manifest[],
): string[] {
  const behind = workloadsOf(manifests).filter(({ labels }) => selects({ matchLabels: spec.selector }, labels));
  return spec.ports.flatMap(({ port, targetPort }) =>
    behind.every(({ pod }) =>
      pod.containers.some(({ ports = [] }) =>
        ports.some((each) => each.name === targetPort && each.containerPort === port),
      ),
    )
      ? []
      : [`Service ${name}: behind ${port} is no ${targetPort}`],
  );
}

function ingressFaults(manifests: readonly Manifest[]): string[] {
  const configs = workloadsOf(manifests).flatMap(({ pod }) =>
    pod.containers.map((container) => settingsOf(container, pod, manifests).config),
  );
  const hostsOf = (setting: string) =>
    configs.flatMap(({ [setting]: value }) => (typeof value === 'string' ? [new URL(value).hostname] : []));
  const hosts: Record<string, readonly string[]> = { gateway: hostsOf('UPLOAD_URL'), site: hostsOf('PUBLIC_SITE_URL') };
  const services = ofKind<ServiceSpec>(manifests, 'Service');
  return ofKind<IngressSpec>(manifests, 'Ingress').flatMap(({ metadata: { name }, spec: { rules, tls = [] } }) =>
    rules.flatMap(({ host, http: { paths } }) =>
      paths.flatMap(({ backend: { service: to } }) => {
        const service = services.find(({ metadata }) => metadata.name === to.name);
        const isThere = service?.spec.ports.some((port) => port.name === to.port.name);
        return [
          ...(isThere ? [] : [`Ingress ${name} leads nowhere`]),
          ...(hosts[to.name]?.includes(host) ? [] : [`Ingress ${name}: ${host} is not what the settings say`]),
          ...(tls.some((each) => each.hosts.includes(host)) ? [] : [`Ingress ${name}: ${host} has no certificate`]),
        ];
      }),
    ),
  );
}

import { type Labels, type Manifest, ofKind, type Selector, selects, type Workload, workloadsOf } from './manifests.ts';

interface ServiceSpec {
  readonly selector: Labels;
  readonly ports: readonly { readonly name: string }[];
}
interface Scaler {
  readonly scaleTargetRef: { readonly kind?: string; readonly name: string };
}
interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
}
interface PolicySpec {
  readonly podSelector: Selector;
  readonly ingress?: readonly { readonly from?: readonly Peer[] }[];
  readonly egress?: readonly { readonly to?: readonly Peer[] }[];
}
interface MonitorSpec {
  readonly selector: Selector;
  readonly endpoints?: readonly { readonly port: string }[];
  readonly podMetricsEndpoints?: readonly { readonly port: string }[];
}

/** Selectors and references that find nothing, and workloads that none finds which should. */
export function selectorFaults(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  return [
    ...workloads.flatMap((workload) => ownFaults(workload, manifests)),
    ...ofKind<ServiceSpec>(manifests, 'Service').flatMap(({ metadata: { name }, spec }) =>
      found(`Service ${name}`, { matchLabels: spec.selector }, workloads),
    ),
    ...ofKind<{ selector: Selector }>(manifests, 'PodDisruptionBudget').flatMap(({ metadata: { name }, spec }) =>
      found(`PodDisruptionBudget ${name}`, spec.selector, workloads),
    ),
    ...ofKind<PolicySpec>(manifests, 'NetworkPolicy').flatMap((policy) => policyFaults(policy, workloads)),
    ...monitorFaults(manifests, workloads),
  ];
}

function found(whose: string, selector: Selector, workloads: readonly Workload[]): string[] {
  return workloads.some(({ labels }) => selects(selector, labels)) ? [] : [`${whose} selects no pods`];
}

function ownFaults(
  { kind, name, labels, pod, selector, replicas }: Workload,
  manifests: readonly Manifest[],
): string[] {
  const scalers = [
    ...ofKind<Scaler>(manifests, 'HorizontalPodAutoscaler'),
    ...ofKind<Scaler>(manifests, 'ScaledObject'),
  ];
  const scaledBy = scalers.filter(
    ({ spec: { scaleTargetRef: to } }) => (to.kind ?? 'Deployment') === kind && to.name === name,
  );
  const spread = pod.topologySpreadConstraints ?? [];
  const budgets = ofKind<{ selector: Selector }>(manifests, 'PodDisruptionBudget');
  const isDeployment = kind === 'Deployment';
  return [
    ...(selector && !selects(selector, labels) ? [`${name} does not select its own pods`] : []),
    ...(spread.every(({ labelSelector }) => selects(labelSelector, labels)) ? [] : [`${name} spreads other pods`]),
    ...(isDeployment && spread.length === 0 ? [`${name} is not spread`] : []),
    ...(isDeployment && !budgets.some(({ spec }) => selects(spec.selector, labels)) ? [`${name} has no budget`] : []),
    ...(kind !== 'CronJob' && scaledBy.length + (replicas === undefined ? 0 : 1) !== 1
      ? [`how many of ${name} there are is said ${scaledBy.length + (replicas === undefined ? 0 : 1)} times`]
      : []),
  ];
}

function policyFaults(
  { metadata: { name }, spec }: { metadata: Manifest['metadata']; spec: PolicySpec },
  workloads: readonly Workload[],
): string[] {
  const peers = [...(spec.ingress ?? []).map(({ from }) => from), ...(spec.egress ?? []).map(({ to }) => to)];
  return [
    ...found(`NetworkPolicy ${name}`, spec.podSelector, workloads),
    ...peers.flatMap((each) => {
      if (!each?.length) return [`NetworkPolicy ${name} is for everybody`];
      return each.flatMap(({ podSelector, namespaceSelector }) =>
        podSelector && !namespaceSelector ? found(`NetworkPolicy ${name}, a peer,`, podSelector, workloads) : [],
      );
    }),
  ];
}

function monitorFaults(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  const services = ofKind<ServiceSpec>(manifests, 'Service');
  const monitors = ofKind<MonitorSpec>(manifests, 'ServiceMonitor');
  const podMonitors = ofKind<MonitorSpec>(manifests, 'PodMonitor');
  const ofMonitors = monitors.flatMap(({ metadata: { name }, spec }) => {
    const watched = services.filter(({ metadata }) => selects(spec.selector, metadata.labels ?? {}));
    return (spec.endpoints ?? []).flatMap(({ port }) =>
      watched.length > 0 && watched.every((service) => service.spec.ports.some((each) => each.name === port))
        ? []
        : [`ServiceMonitor ${name} finds no port ${port}`],
    );
  });
  const ofPodMonitors = podMonitors.flatMap(({ metadata: { name }, spec }) => {
    const watched = workloads.filter(({ labels }) => selects(spec.selector, labels));
    return (spec.podMetricsEndpoints ?? []).flatMap(({ port }) =>
      watched.length > 0 && watched.every(({ pod }) => pod.containers.some((each) => hasPort(each, port)))
        ? []
        : [`PodMonitor ${name} finds no port ${port}`],
    );
  });
  return [...ofMonitors, ...ofPodMonitors, ...unwatched(manifests, workloads)];
}

function hasPort({ ports = [] }: Workload['pod']['containers'][number], port: string): boolean {
  return ports.some(({ name }) => name === port);
}

// If there are monitors, every service with metrics is monitored.
function unwatched(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  const monitors = ofKind<MonitorSpec>(manifests, 'ServiceMonitor');
  const podMonitors = ofKind<MonitorSpec>(manifests, 'PodMonitor');
  if (monitors.length + podMonitors.length === 0) return [];
  const services = ofKind<ServiceSpec>(manifests, 'Service').filter(({ metadata }) =>
    monitors.some(({ spec }) => selects(spec.selector, metadata.labels ?? {})),
  );
  return workloads
    .filter(({ pod }) => pod.containers.some((container) => hasPort(container, 'ops')))
    .filter(
      ({ labels }) =>
        !podMonitors.some(({ spec }) => selects(spec.selector, labels)) &&
        !services.some(({ spec }) => selects({ matchLabels: spec.selector }, labels)),
    )
    .map(({ name }) => `${name} is not monitored`);
}

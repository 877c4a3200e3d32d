import {
  faultsIf,
  type Labels,
  type Manifest,
  type NetworkPolicySpec,
  ofKind,
  type Selector,
  type ServiceSpec,
  selects,
  selectsPods,
  type Workload,
  workloadsOf,
} from './manifests.ts';
import { serviceOf } from './settings.ts';

interface ScalerSpec {
  readonly scaleTargetRef: { readonly kind?: string; readonly name: string };
  readonly minReplicaCount?: number;
  readonly triggers?: readonly { readonly name: string; readonly metadata: { readonly query: string } }[];
}
interface MonitorSpec {
  readonly selector: Selector;
  readonly endpoints?: readonly { readonly port: string }[];
  readonly podMetricsEndpoints?: readonly { readonly port: string }[];
}

/** Pods that cert-manager starts. */
const podsOfOthers: Labels = { 'acme.cert-manager.io/http01-solver': 'true' };

/** Finds selectors and references without a target, and workloads that lack a budget, spread, replicas or a monitor. */
export function checkSelectors(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  const policies = ofKind<NetworkPolicySpec>(manifests, 'NetworkPolicy');
  const rules = policies.flatMap(({ title, spec: { ingress = [], egress = [] } }) =>
    [...ingress, ...egress].map(({ from, to }) => ({ title, peers: from ?? to ?? [] })),
  );
  const services = ofKind<ServiceSpec>(manifests, 'Service');
  const selectors: readonly { title: string; selector: Selector }[] = [
    ...services.map(({ title, spec }) => ({ title, selector: { matchLabels: spec.selector } })),
    ...budgetsOf(manifests).map(({ title, spec: { selector } }) => ({ title, selector })),
    ...policies.map(({ title, spec: { podSelector: selector } }) => ({ title, selector })),
    ...rules.flatMap(({ title, peers }) =>
      peers.flatMap(({ podSelector: selector, namespaceSelector }) =>
        selector && !namespaceSelector ? [{ title: `${title}, a peer,`, selector }] : [],
      ),
    ),
  ];
  return [
    ...workloads.flatMap((workload) => workloadFaults(workload, manifests)),
    ...selectors
      .filter(
        ({ selector }) =>
          !selects(selector, podsOfOthers) && !workloads.some((workload) => selectsPods(selector, workload)),
      )
      .map(({ title }) => `${title} selects no pods`),
    ...rules.filter(({ peers }) => peers.length === 0).map(({ title }) => `${title} is for every peer`),
    ...monitorFaults(manifests, workloads),
    ...scalerFaults(manifests),
  ];
}

function budgetsOf(manifests: readonly Manifest[]) {
  return ofKind<{ selector: Selector }>(manifests, 'PodDisruptionBudget');
}

function workloadFaults(
  { kind, name, labels, pod, selector, replicas }: Workload,
  manifests: readonly Manifest[],
): string[] {
  const scalers = [
    ...ofKind<ScalerSpec>(manifests, 'HorizontalPodAutoscaler'),
    ...ofKind<ScalerSpec>(manifests, 'ScaledObject'),
  ].map(({ spec }) => ({ kind: 'Deployment', ...spec.scaleTargetRef }));
  const scalersOfThis = scalers.filter((target) => target.kind === kind && target.name === name);
  const replicaSources = scalersOfThis.length + (replicas === undefined ? 0 : 1);
  const spread = pod.topologySpreadConstraints ?? [];
  const isReplicated = pod.containers.some(serviceOf) && kind !== 'CronJob';
  const hasBudget = budgetsOf(manifests).some(({ spec }) => selects(spec.selector, labels));
  return faultsIf({
    [`${name} does not select its own pods`]: selector && !selects(selector, labels),
    [`${name} spreads other pods`]: !spread.every(({ labelSelector }) => selects(labelSelector, labels)),
    [`${name} is not spread`]: isReplicated && spread.length === 0,
    [`${name} has no budget`]: isReplicated && !hasBudget,
    [`the replicas of ${name} are set ${replicaSources} times`]: kind !== 'CronJob' && replicaSources !== 1,
  });
}

/** If there are monitors, they must find their ports, and every workload with metrics must have one. */
function monitorFaults(manifests: readonly Manifest[], workloads: readonly Workload[]): string[] {
  const services = ofKind<ServiceSpec>(manifests, 'Service').map(({ metadata, spec: { selector, ports } }) => ({
    labels: metadata.labels ?? {},
    ports,
    pods: { matchLabels: selector },
  }));
  const pods = workloads.map(({ name, labels, pod }) => ({
    ...{ name, labels, pods: { matchLabels: labels } },
    ports: pod.containers.flatMap(({ ports = [] }) => ports),
  }));
  const monitors = ['ServiceMonitor', 'PodMonitor'].flatMap((kind) =>
    ofKind<MonitorSpec>(manifests, kind).map(({ title, spec }) => ({
      title,
      endpoints: spec.endpoints ?? spec.podMetricsEndpoints ?? [],
      targets: (kind === 'PodMonitor' ? pods : services).filter(({ labels }) => selects(spec.selector, labels)),
    })),
  );
  if (monitors.length === 0) return [];
  const monitored = monitors.flatMap(({ targets }) => targets.map((target) => target.pods));
  return [
    ...monitors.flatMap(({ title, endpoints, targets }) =>
      endpoints
        .filter(({ port }) => targets.length === 0 || !targets.every(({ ports }) => hasPort(ports, port)))
        .map(({ port }) => `${title} finds no port ${port}`),
    ),
    ...pods
      .filter(({ labels, ports }) => hasPort(ports, 'ops') && !monitored.some((selector) => selects(selector, labels)))
      .map(({ name }) => `${name} is not monitored`),
  ];
}

/** ScaledObjects must keep a worker, and aggregate what every gateway reports. */
function scalerFaults(manifests: readonly Manifest[]): string[] {
  return ofKind<ScalerSpec>(manifests, 'ScaledObject').flatMap(
    ({ title, spec: { minReplicaCount = 0, triggers = [] } }) => [
      ...(minReplicaCount < 1 ? [`${title}, scales to zero`] : []),
      ...triggers
        .filter(({ metadata: { query } }) => !/^max(\(max)? by \(queue\) /.test(query))
        .map(({ name }) => `${title}, ${name}: gateways are not aggregated`),
    ],
  );
}

function hasPort(ports: readonly { readonly name: string }[], name: string): boolean {
  return ports.some((port) => port.name === name);
}

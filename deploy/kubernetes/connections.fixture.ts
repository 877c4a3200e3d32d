import { BlockList } from 'node:net';
import {
  type Labels,
  type Manifest,
  ofKind,
  type Selector,
  type ServiceSpec,
  type Workload,
  workloadsOf,
} from './checks/manifests.ts';

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface PolicyRule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: number; readonly endPort?: number }[];
}

interface NetworkPolicySpec {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly PolicyRule[];
  readonly egress?: readonly PolicyRule[];
}

const anyPeer: Peer = { namespaceSelector: {} };
/** What applies to pods that no policy restricts. */
const anyRules: readonly PolicyRule[] = [{}];

/** Addresses that no provider may have: of private networks, of a cloud's metadata service, and IPv6 forms that embed them. */
const privateAddresses = [
  ...['10.0.0.1', '10.255.0.1', '172.16.0.1', '172.31.255.1', '192.168.1.1'],
  ...['100.64.0.1', '127.0.0.1', '169.254.169.254', '0.0.0.0'],
  ...['::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::1'],
];

/** Lists the connections between workloads that both ends allow, as `from -> to:port`. */
export function connectionsBetween(manifests: readonly Manifest[]): string[] {
  const policies = policiesOf(manifests);
  const workloads = workloadsOf(manifests);
  return workloads.flatMap((from) =>
    workloads.flatMap((to) =>
      to.pod.containers
        .flatMap(({ ports = [] }) => ports)
        .filter(
          ({ containerPort: port }) =>
            allows(rulesFor(from.labels, policies, 'Egress'), to.labels, port) &&
            allows(rulesFor(to.labels, policies, 'Ingress'), from.labels, port),
        )
        .map(({ containerPort: port }) => `${from.name} -> ${to.name}:${port}`),
    ),
  );
}

/** Lists the connections of workloads to addresses outside of the cluster, as `from -> network:ports`; `any` if nothing restricts them. */
export function connectionsOut(manifests: readonly Manifest[]): string[] {
  const policies = policiesOf(manifests);
  return workloadsOf(manifests).flatMap(({ name, labels }) =>
    (rulesFor(labels, policies, 'Egress') ?? anyRules).flatMap(({ to = [anyPeer], ports = [] }) =>
      to.flatMap(({ podSelector, ipBlock }) =>
        podSelector ? [] : [`${name} -> ${ipBlock?.cidr ?? 'any'}:${ports.map(({ port }) => port)}`],
      ),
    ),
  );
}

/** Lists the connections from pods of other namespaces, as `namespace -> to:ports`; `any` if nothing restricts them. */
export function connectionsIn(manifests: readonly Manifest[]): string[] {
  const policies = policiesOf(manifests);
  return workloadsOf(manifests).flatMap(({ name, labels }) =>
    (rulesFor(labels, policies, 'Ingress') ?? anyRules).flatMap(({ from = [anyPeer], ports = [] }) =>
      from
        .filter(({ podSelector, namespaceSelector }) => namespaceSelector || !podSelector)
        .map(({ namespaceSelector, ipBlock }) => {
          const namespace = namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'];
          const ranges = ports.map(({ port, endPort }) => (endPort ? `${port}-${endPort}` : port));
          return `${namespace ?? ipBlock?.cidr ?? 'any'} -> ${name}:${ranges}`;
        }),
    ),
  );
}

/** Lists the private addresses that pods may reach in wide networks outside of the cluster, as `network -> address`. */
export function privateAddressesIn(manifests: readonly Manifest[]): string[] {
  const peers = policiesOf(manifests).flatMap(({ egress = [] }) => egress.flatMap(({ to = [] }) => to));
  const wideBlocks = peers.flatMap(({ ipBlock }) =>
    ipBlock && Number(ipBlock.cidr.split('/')[1]) < 8 ? [ipBlock] : [],
  );
  return wideBlocks.flatMap(({ cidr, except = [] }) =>
    privateAddresses
      .filter((address) => includes([cidr], address) && !includes(except, address))
      .map((address) => `${cidr} -> ${address}`),
  );
}

/** Lists the ports of Services and the container ports that they lead to, as `service:port -> workload:port`; `nothing` if there is none. */
export function servicesIn(manifests: readonly Manifest[]): string[] {
  return ofKind<ServiceSpec>(manifests, 'Service').flatMap(({ metadata, spec: { selector, ports } }) => {
    const workloads = workloadsOf(manifests).filter((workload) => selectsPods({ matchLabels: selector }, workload));
    return ports.flatMap(({ port, targetPort }) => {
      const targets = workloads.map(({ name, pod }) => {
        const target = pod.containers.flatMap((each) => each.ports ?? []).find((each) => each.name === targetPort);
        return target ? `${name}:${target.containerPort}` : 'nothing';
      });
      return (targets.length > 0 ? targets : ['nothing']).map((target) => `${metadata.name}:${port} -> ${target}`);
    });
  });
}

function policiesOf(manifests: readonly Manifest[]): NetworkPolicySpec[] {
  return ofKind<NetworkPolicySpec>(manifests, 'NetworkPolicy').map(({ spec }) => spec);
}

/** The rules for pods with these labels; undefined if no policy restricts this direction. */
function rulesFor(labels: Labels, policies: readonly NetworkPolicySpec[], type: 'Ingress' | 'Egress') {
  const own = policies.filter((policy) => policy.policyTypes.includes(type) && selects(policy.podSelector, labels));
  if (own.length === 0) return undefined;
  return own.flatMap(({ ingress = [], egress = [] }) => (type === 'Ingress' ? ingress : egress));
}

/** Whether a selector matches these labels; an empty one matches all. */
export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      if (operator !== 'In') throw new TypeError(`the tests do not support the operator ${operator}`);
      return values.includes(labels[key] ?? '');
    })
  );
}

/** Whether a selector matches pods of a workload: all of them, or one of a StatefulSet by its name. */
function selectsPods(selector: Selector, { kind, name, labels, replicas = 1 }: Workload): boolean {
  if (kind !== 'StatefulSet') return selects(selector, labels);
  const names = Array.from({ length: replicas }, (_, n) => `${name}-${n}`);
  return names.some((pod) => selects(selector, { ...labels, 'statefulset.kubernetes.io/pod-name': pod }));
}

function allows(rules: readonly PolicyRule[] | undefined, peer: Labels, port: number): boolean {
  if (!rules) return true;
  return rules.some(({ from, to, ports = [] }) => {
    const peers = from ?? to ?? [];
    const isPeer = peers.some(
      ({ podSelector, namespaceSelector }) => podSelector && !namespaceSelector && selects(podSelector, peer),
    );
    return isPeer && ports.some((each) => each.port <= port && port <= (each.endPort ?? each.port));
  });
}

function includes(networks: readonly string[], address: string): boolean {
  const typeOf = (text: string) => (text.includes(':') ? 'ipv6' : 'ipv4');
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    list.addSubnet(base, Number(bits), typeOf(base));
  }
  return list.check(address, typeOf(address));
}

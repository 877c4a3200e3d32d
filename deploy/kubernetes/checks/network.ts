import { BlockList } from 'node:net';
import { type Manifest, ofKind, type Selector, selects, type Workload, workloadsOf } from './manifests.ts';

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: number; readonly endPort?: number }[];
}
interface PolicySpec {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}

/** Addresses of which no provider's may be one: of this network, of a cloud's metadata service, and what carries them inside. */
const inside = [
  ...[
    '10.0.0.1',
    '10.255.0.1',
    '172.16.0.1',
    '172.31.255.1',
    '192.168.1.1',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
  ],
  ...['::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::1'],
];

/** All ways between workloads that both ends allow, as `from -> to:port`, in order. */
export function waysBetween(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  const policies = ofKind<PolicySpec>(manifests, 'NetworkPolicy').map(({ spec }) => spec);
  return workloads.flatMap((from) =>
    workloads.flatMap((to) =>
      portsOf(to)
        .filter((port) => allows(policies, 'Egress', from, to, port) && allows(policies, 'Ingress', to, from, port))
        .map((port) => `${from.name} -> ${to.name}:${port}`),
    ),
  );
}

/** Workloads that reach addresses outside of the cluster, each with the networks, as `from -> network:ports`. */
export function waysOut(manifests: readonly Manifest[]): string[] {
  const policies = ofKind<PolicySpec>(manifests, 'NetworkPolicy').map(({ spec }) => spec);
  return workloadsOf(manifests).flatMap(({ name, labels }) =>
    policies
      .filter(({ podSelector }) => selects(podSelector, labels))
      .flatMap(({ egress = [] }) => egress)
      .flatMap(({ to = [], ports = [] }) =>
        to.flatMap(({ ipBlock }) => (ipBlock ? [`${name} -> ${ipBlock.cidr}:${ports.map(({ port }) => port)}`] : [])),
      ),
  );
}

/** What pods of other namespaces reach, as `namespace -> to:ports`; `anybody` if a rule names no peer. */
export function waysIn(manifests: readonly Manifest[]): string[] {
  const policies = ofKind<PolicySpec>(manifests, 'NetworkPolicy').map(({ spec }) => spec);
  const anybody: Peer = { namespaceSelector: {} };
  return workloadsOf(manifests).flatMap(({ name, labels }) =>
    policies
      .filter(({ podSelector }) => selects(podSelector, labels))
      .flatMap(({ ingress = [] }) => ingress)
      .flatMap(({ from = [anybody], ports = [] }) =>
        from
          .filter(({ podSelector, namespaceSelector }) => namespaceSelector || !podSelector)
          .map(({ namespaceSelector, ipBlock }) => {
            const namespace = namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'];
            return `${namespace ?? ipBlock?.cidr ?? 'anybody'} -> ${name}:${ports.map(({ port, endPort }) => (endPort ? `${port}-${endPort}` : port))}`;
          }),
      ),
  );
}

/** Pods that no policy closes, ways that only one end allows, and ways from the internet's verifier into private networks. */
export function networkFaults(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  const policies = ofKind<PolicySpec>(manifests, 'NetworkPolicy').map(({ spec }) => spec);
  const closed = policies.some(
    ({ podSelector, policyTypes, ingress, egress }) =>
      Object.keys(podSelector).length === 0 && `${policyTypes}` === 'Ingress,Egress' && !ingress && !egress,
  );
  const oneSided = workloads.flatMap((from) =>
    workloads.flatMap((to) =>
      portsOf(to)
        .filter((port) => allows(policies, 'Egress', from, to, port) !== allows(policies, 'Ingress', to, from, port))
        .map((port) => `${from.name} -> ${to.name}:${port} is allowed by one end only`),
    ),
  );
  return [...(closed ? [] : ['what no policy names is open']), ...oneSided, ...insideFaults(policies)];
}

function insideFaults(policies: readonly PolicySpec[]): string[] {
  const wide = policies
    .flatMap(({ egress = [] }) => egress.flatMap(({ to = [] }) => to))
    .flatMap(({ ipBlock }) => (ipBlock && Number(ipBlock.cidr.split('/')[1]) < 8 ? [ipBlock] : []));
  return wide.flatMap(({ cidr, except = [] }) =>
    inside
      .filter((address) => within([cidr], address) && !within(except, address))
      .map((address) => `${cidr} reaches ${address}`),
  );
}

function within(networks: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    list.addSubnet(base, Number(bits), base.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}

function portsOf({ pod }: Workload): number[] {
  return pod.containers.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort));
}

function allows(
  policies: readonly PolicySpec[],
  type: 'Ingress' | 'Egress',
  self: Workload,
  other: Workload,
  port: number,
): boolean {
  const own = policies.filter((each) => each.policyTypes.includes(type) && selects(each.podSelector, self.labels));
  const rules = own.flatMap(({ ingress = [], egress = [] }) => (type === 'Ingress' ? ingress : egress));
  return (
    own.length === 0 ||
    rules.some(
      ({ from, to, ports = [] }) =>
        (from ?? to ?? []).some(
          ({ podSelector, namespaceSelector }) =>
            podSelector && !namespaceSelector && selects(podSelector, other.labels),
        ) && ports.some((each) => each.port <= port && port <= (each.endPort ?? each.port)),
    )
  );
}

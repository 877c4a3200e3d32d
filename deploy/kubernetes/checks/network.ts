import { BlockList } from 'node:net';
import {
  type Labels,
  type Manifest,
  type NetworkPolicySpec,
  ofKind,
  type Peer,
  type PolicyRule,
  selects,
  workloadsOf,
} from './manifests.ts';

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

/** Lists the connections of workloads to addresses outside of the cluster, as `from -> network:ports`. */
export function connectionsOut(manifests: readonly Manifest[]): string[] {
  const policies = policiesOf(manifests);
  return workloadsOf(manifests).flatMap(({ name, labels }) =>
    (rulesFor(labels, policies, 'Egress') ?? []).flatMap(({ to = [], ports = [] }) =>
      to.flatMap(({ ipBlock }) => (ipBlock ? [`${name} -> ${ipBlock.cidr}:${ports.map(({ port }) => port)}`] : [])),
    ),
  );
}

/** Lists the connections from pods of other namespaces, as `namespace -> to:ports`; `any` if a rule names no peer. */
export function connectionsIn(manifests: readonly Manifest[]): string[] {
  const policies = policiesOf(manifests);
  const anyPeer: Peer = { namespaceSelector: {} };
  return workloadsOf(manifests).flatMap(({ name, labels }) =>
    (rulesFor(labels, policies, 'Ingress') ?? []).flatMap(({ from = [anyPeer], ports = [] }) =>
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

/** Finds pods without policies, and networks of providers that include private addresses. */
export function checkNetwork(manifests: readonly Manifest[]): string[] {
  const policies = policiesOf(manifests);
  const isClosed = policies.some(
    ({ podSelector, policyTypes, ingress, egress }) =>
      Object.keys(podSelector).length === 0 && `${policyTypes}` === 'Ingress,Egress' && !ingress && !egress,
  );
  const wideBlocks = policies
    .flatMap(({ egress = [] }) => egress.flatMap(({ to = [] }) => to))
    .flatMap(({ ipBlock }) => (ipBlock && Number(ipBlock.cidr.split('/')[1]) < 8 ? [ipBlock] : []));
  const reachable = wideBlocks.flatMap(({ cidr, except = [] }) =>
    privateAddresses
      .filter((address) => includes([cidr], address) && !includes(except, address))
      .map((address) => `${cidr} reaches ${address}`),
  );
  return [...(isClosed ? [] : ['pods without a policy are open']), ...reachable];
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

import { stringify } from 'yaml';
import type { ClusterSettings } from './cluster-settings.ts';

interface Target {
  readonly kind: string;
  /** A regular expression for the whole name. */
  readonly name: string;
}

/** The patches of an overlay: hosts and class of the Ingresses, and peers in NetworkPolicies. */
export function clusterPatches(cluster: ClusterSettings): object[] {
  return [
    ...ingressPatches('site', cluster.PUBLIC_SITE_URL, cluster),
    ...ingressPatches('gateway', cluster.UPLOAD_URL, cluster),
    replace(
      { kind: 'NetworkPolicy', name: 'from-ingress-to-.*' },
      {
        '/spec/ingress/0/from/0/namespaceSelector/matchLabels/kubernetes.io~1metadata.name': cluster.INGRESS_NAMESPACE,
      },
    ),
    ...networkPatches('to-(queue|cache)', cluster.REDIS_NETWORKS),
    ...networkPatches('to-store', cluster.STORE_NETWORKS, cluster.S3_ENDPOINT),
  ];
}

function ingressPatches(name: string, address: string, { INGRESS_CLASS, CLUSTER_ISSUER }: ClusterSettings): object[] {
  const { hostname } = new URL(address);
  return [
    replace(
      { kind: 'Ingress', name },
      {
        '/spec/ingressClassName': INGRESS_CLASS,
        '/spec/rules/0/host': hostname,
        '/spec/tls/0/hosts/0': hostname,
        ...(CLUSTER_ISSUER && { '/metadata/annotations/cert-manager.io~1cluster-issuer': CLUSTER_ISSUER }),
      },
    ),
  ];
}

function networkPatches(name: string, networks: readonly string[] | undefined, address?: string): object[] {
  if (!networks) return [];
  const { port, protocol } = address ? new URL(address) : {};
  return [
    replace(
      { kind: 'NetworkPolicy', name },
      {
        '/spec/egress/0/to': networks.map((cidr) => ({ ipBlock: { cidr } })),
        ...(address && { '/spec/egress/0/ports/0/port': Number(port) || (protocol === 'https:' ? 443 : 80) }),
      },
    ),
  ];
}

function replace(target: Target, values: Readonly<Record<string, unknown>>): object {
  const operations = Object.entries(values).map(([path, value]) => ({ op: 'replace', path, value }));
  return { target, patch: stringify(operations) };
}

import {
  choice,
  commaSeparated,
  httpAddress,
  httpOrigin,
  requiredWhen,
  type Settings,
  someOf,
  text,
} from '@echodrop/service/env';

/** The settings of an overlay, besides those of services. */
export const clusterSettings = {
  OVERLAY: choice(['small', 'ha', 'large'], 'small'),
  ECHODROP_REGISTRY: text('').refine((value) => value === '' || value.endsWith('/'), 'must end with a slash'),
  INGRESS_CLASS: text('traefik'),
  INGRESS_NAMESPACE: text('traefik'),
  CLUSTER_ISSUER: text().optional(),
  COMPONENTS: someOf(['monitoring', 'keda']),
  PROMETHEUS_RELEASE: text().optional(),
  REDIS_NETWORKS: requiredWhen('OVERLAY', 'large', commaSeparated()),
  STORE_NETWORKS: requiredWhen('OVERLAY', 'large', commaSeparated()),
  // Services read these too. Here they are required, because the Ingress needs their hosts.
  PUBLIC_SITE_URL: httpOrigin().refine(isServedByIngress, 'must be an https address without a port'),
  UPLOAD_URL: httpAddress().refine(isServedByIngress, 'must be an https address without a port'),
} as const;

export type ClusterSettings = Settings<typeof clusterSettings>;

function isServedByIngress(address: string): boolean {
  const { protocol, port } = new URL(address);
  return protocol === 'https:' && port === '';
}

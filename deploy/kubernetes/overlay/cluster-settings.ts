import { isIP } from 'node:net';
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
import { isNetwork } from '@echodrop/service/shared-settings';

const dnsName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const objectName = text().refine(
  (value) => dnsName.test(value),
  'must be a name of lower-case letters, digits, hyphens and dots',
);
const registry = text().refine(
  (value) => /^[a-z0-9.-]+(:\d+)?\/([a-z0-9._-]+\/)*$/.test(value),
  'must be a registry in lower case, without https:// and with a slash at its end: registry.example/',
);
const networks = commaSeparated().refine(
  (entries) => entries.length > 0 && entries.every(isNetwork),
  'must be comma-separated networks: 10.1.0.0/24, or 10.1.0.5/32 for one address',
);
const servedByIngress = [isServedByIngress, 'must be an https address with a host name and without a port'] as const;

/** The settings of an overlay, besides those of services. */
export const clusterSettings = {
  OVERLAY: choice(['small', 'ha', 'large'], 'small'),
  ECHODROP_REGISTRY: registry,
  INGRESS_CLASS: objectName.default('traefik'),
  INGRESS_NAMESPACE: objectName.default('traefik'),
  CLUSTER_ISSUER: objectName.optional(),
  COMPONENTS: someOf(['monitoring', 'keda']),
  PROMETHEUS_RELEASE: objectName.optional(),
  REDIS_NETWORKS: requiredWhen('OVERLAY', 'large', networks),
  STORE_NETWORKS: requiredWhen('OVERLAY', 'large', networks),
  // Services read these too. They are here, because a NetworkPolicy needs the port, and Ingresses the hosts.
  S3_ENDPOINT: requiredWhen('OVERLAY', 'large', httpOrigin()),
  PUBLIC_SITE_URL: httpOrigin().refine(...servedByIngress),
  UPLOAD_URL: httpAddress().refine(...servedByIngress),
} as const;

export type ClusterSettings = Settings<typeof clusterSettings>;

function isServedByIngress(address: string): boolean {
  const { protocol, port, hostname } = new URL(address);
  return protocol === 'https:' && port === '' && dnsName.test(hostname) && isIP(hostname) === 0;
}

import { join } from 'node:path';
import { InvalidSettings, isSecret, readSettings } from '@echodrop/service/env';
import { stringify } from 'yaml';
import { type ServiceName, serviceConfigs } from '../../local/services.ts';
import { faultsIf, type Manifest } from '../checks/manifests.ts';
import { type ClusterSettings, clusterSettings } from './cluster-settings.ts';
import { clusterPatches } from './patches.ts';

/** Settings by name. */
type Values = Readonly<Record<string, string>>;

/** The files of an overlay's folder. */
export interface OverlayFiles {
  /** `settings.env`: settings of the cluster and of all services. */
  readonly settings: Values;
  /** `<service>.env`: settings of one service, by its name. */
  readonly ofServices: Readonly<Record<string, Values>>;
  /** Whether the folder `own` has a component with the operator's own changes. */
  readonly hasOwnComponent: boolean;
}

/** Names of our images. */
export const ownImages = ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker', 'admin'];
const services = (Object.keys(serviceConfigs) as ServiceName[]).filter((name) => name !== 'sandbox-provider');

/** Reads the settings of the cluster. @throws InvalidSettings, which lists every invalid or unknown setting */
export function readClusterSettings({ settings, ofServices }: OverlayFiles): ClusterSettings {
  const faults = Object.entries({ settings, ...ofServices }).flatMap(([file, values]) =>
    Object.keys(values).flatMap((name) => faultOf(name, file)),
  );
  try {
    const cluster = readSettings(clusterSettings, settings);
    const isLarge = cluster.OVERLAY === 'large';
    faults.push(
      ...faultsIf({
        'PUBLIC_SITE_URL and UPLOAD_URL must have different hosts':
          new URL(cluster.PUBLIC_SITE_URL).host === new URL(cluster.UPLOAD_URL).host,
        'large includes monitoring and keda: remove COMPONENTS': isLarge && cluster.COMPONENTS.size > 0,
        'REDIS_NETWORKS, STORE_NETWORKS and S3_ENDPOINT are for large: remove them':
          !isLarge && Boolean(cluster.REDIS_NETWORKS ?? cluster.STORE_NETWORKS ?? cluster.S3_ENDPOINT),
        'PROMETHEUS_RELEASE needs COMPONENTS=monitoring':
          !isLarge && cluster.PROMETHEUS_RELEASE !== undefined && !cluster.COMPONENTS.has('monitoring'),
        'COMPONENTS=keda also needs monitoring, whose metrics it reads':
          cluster.COMPONENTS.has('keda') && !cluster.COMPONENTS.has('monitoring'),
        'IDENTITY_PROVIDERS is required': settings['IDENTITY_PROVIDERS'] === undefined,
      }),
    );
    if (faults.length === 0) return cluster;
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    faults.push(...error.faults);
  }
  throw new InvalidSettings(faults);
}

/**
 * The content of kustomization.yaml.
 * @param base the manifests of the overlay that it starts from
 * @param kubernetesFolder the path from the overlay's folder to deploy/kubernetes
 */
export function kustomizationOf(
  files: OverlayFiles,
  cluster: ClusterSettings,
  base: readonly Manifest[],
  kubernetesFolder: string,
): Record<string, unknown> {
  const component = (name: string) => join(kubernetesFolder, 'components', name);
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'echodrop',
    resources: [join(kubernetesFolder, 'overlays', cluster.OVERLAY)],
    components: [
      ...(cluster.INGRESS_CLASS === 'traefik' ? [component('traefik')] : []),
      ...(cluster.CLUSTER_ISSUER ? [component('cert-manager')] : []),
      ...[...cluster.COMPONENTS].map(component),
      ...(files.hasOwnComponent ? ['own'] : []),
    ],
    ...(cluster.PROMETHEUS_RELEASE && { labels: [{ pairs: { release: cluster.PROMETHEUS_RELEASE } }] }),
    images: ownImages.map((name) => ({
      name: `echodrop/${name}`,
      newName: `${cluster.ECHODROP_REGISTRY}echodrop/${name}`,
    })),
    patches: [...settingPatches(files, cluster, base), ...clusterPatches(cluster)],
  };
}

function faultOf(name: string, file: string): string[] {
  if (Object.hasOwn(clusterSettings, name))
    return file === 'settings' ? [] : [`${file}.env: ${name} belongs in settings.env`];
  const isRead = readersOf(name).some((service) => file === 'settings' || service === file);
  if (!isRead) return [`${file}.env: nothing reads ${name}`];
  return isSecretName(name) ? [`${file}.env: ${name} is a secret, put it into the Secret echodrop-secrets`] : [];
}

function readersOf(setting: string): ServiceName[] {
  return services.filter((service) => Object.hasOwn(serviceConfigs[service].settings, setting));
}

function isSecretName(setting: string): boolean {
  return services.some((service) =>
    isSecret((serviceConfigs[service].settings as Readonly<Record<string, unknown>>)[setting]),
  );
}

/** A setting goes into the ConfigMaps that have it already, else into those of the services that read it. */
function settingPatches(
  { settings, ofServices }: OverlayFiles,
  { PUBLIC_SITE_URL }: ClusterSettings,
  base: readonly Manifest[],
) {
  const maps = base
    .filter(({ kind }) => kind === 'ConfigMap')
    .map(({ metadata, data = {} }) => ({ name: metadata.name.replace(/-[a-z0-9]{10}$/, ''), data }));
  const ofAll = Object.entries({ CORS_ORIGINS: PUBLIC_SITE_URL, ...settings }).flatMap(([name, value]) => {
    const present = maps.filter(({ data }) => name in data).map((map) => map.name);
    return (present.length > 0 ? present : readersOf(name)).map((map) => ({ map, name, value }));
  });
  const ofOne = Object.entries(ofServices).flatMap(([map, values]) =>
    Object.entries(values).map(([name, value]) => ({ map, name, value })),
  );
  return [...Map.groupBy([...ofAll, ...ofOne], ({ map }) => map)].map(([name, entries]) => ({
    // Not literals of a generator: kustomize removes quotes around their values.
    patch: stringify(
      {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
        data: Object.fromEntries(entries.map((each) => [each.name, each.value])),
      },
      { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
    ),
  }));
}

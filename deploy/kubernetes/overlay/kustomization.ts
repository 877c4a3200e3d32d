import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Manifest } from '../checks/manifests.ts';
import { type OverlayFiles, readersOf } from './check-settings.ts';
import type { ClusterSettings } from './cluster-settings.ts';
import { clusterPatches } from './patches.ts';

/** Names of our images. */
export const ownImages = ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker', 'admin'];

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

/** A setting goes into the ConfigMaps that have it already, else into those of the services that read it. */
function settingPatches(
  { settings, ofServices }: OverlayFiles,
  { PUBLIC_SITE_URL, UPLOAD_URL }: ClusterSettings,
  base: readonly Manifest[],
) {
  const maps = base
    .filter(({ kind }) => kind === 'ConfigMap')
    .map(({ metadata, data = {} }) => ({ name: metadata.name.replace(/-[a-z0-9]{10}$/, ''), data }));
  const addresses = { CORS_ORIGINS: PUBLIC_SITE_URL, PUBLIC_UPLOAD_URL: UPLOAD_URL };
  const ofAll = Object.entries({ ...addresses, ...settings }).flatMap(([name, value]) => {
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
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: Object.fromEntries(entries.map((each) => [each.name, each.value])),
      },
      { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
    ),
  }));
}

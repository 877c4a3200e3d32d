import { InvalidSettings, isSecret, readSettings } from '@echodrop/service/env';
import { findRemovedSettings } from '@echodrop/service/removed-settings';
import { type ServiceName, serviceConfigs } from '../../local/services.ts';
import { faultsIf } from '../checks/manifests.ts';
import { type ClusterSettings, clusterSettings } from './cluster-settings.ts';

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

const services = (Object.keys(serviceConfigs) as ServiceName[]).filter((name) => name !== 'sandbox-provider');

/** Reads and checks the settings of the cluster. @throws InvalidSettings, which lists every invalid or unknown setting */
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

function faultOf(name: string, file: string): string[] {
  if (Object.hasOwn(clusterSettings, name))
    return file === 'settings' ? [] : [`${file}.env: ${name} belongs in settings.env`];
  const isRead = readersOf(name).some((service) => file === 'settings' || service === file);
  if (!isRead) {
    const [removed] = services.flatMap((service) => findRemovedSettings(service, { [name]: 'set' }));
    return [`${file}.env: ${removed ?? `nothing reads ${name}`}`];
  }
  return isSecretName(name) ? [`${file}.env: ${name} is a secret, put it into the Secret echodrop-secrets`] : [];
}

/** The services that read a setting. */
export function readersOf(setting: string): ServiceName[] {
  return services.filter((service) => Object.hasOwn(serviceConfigs[service].settings, setting));
}

function isSecretName(setting: string): boolean {
  return services.some((service) =>
    isSecret((serviceConfigs[service].settings as Readonly<Record<string, unknown>>)[setting]),
  );
}

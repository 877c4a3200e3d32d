import { InvalidSettings } from '@echodrop/service/env';
import type { ProcessSettings } from '@echodrop/service/process-settings';
import { findRemovedSettings } from '@echodrop/service/removed-settings';
import { readStoreConfig, readSweepConfig } from '../../../services/admin/src/config.ts';
import { type ServiceName, serviceConfigs } from '../../local/services.ts';
import {
  type Container,
  checkContainers,
  type EnvVariable,
  faultsIf,
  type Manifest,
  ofKind,
  type PodSpec,
  type ServiceSpec,
  workloadsOf,
} from './manifests.ts';

/** The address of Redis is a secret, as it contains a password. */
const redisUrl = 'redis://user:password@redis:6379';
const anySecret = 'a-secret-that-only-the-checks-have';

/** The settings of a container; if there are faults, `config` is what could be read. */
export interface ContainerSettings {
  readonly config: Readonly<Record<string, unknown>> & Partial<ProcessSettings>;
  readonly faults: readonly string[];
}

/** The service whose image the container runs: the name of its folder below services/. */
export function serviceOf({ image }: Container): string | undefined {
  return /^(?:.*\/)?echodrop\/([a-z-]+):/.exec(image)?.[1];
}

/** Reads a container's environment with the real `readConfig` of its service. */
export function settingsOf(container: Container, pod: PodSpec, manifests: readonly Manifest[]): ContainerSettings {
  const faults: string[] = [];
  const maps = configMapsOf(container).map((mapName) => {
    const map = ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name === mapName);
    if (!map) faults.push(`there is no ConfigMap ${mapName}`);
    return map?.data ?? {};
  });
  // The last map is the service's own: it may override the shared ones.
  const own = maps.pop() ?? {};
  const entries = [
    ...maps.flatMap((map) => Object.entries(map)).filter(([name]) => !(name in own)),
    ...Object.entries(own),
    ...(container.env ?? []).map((variable) => settingIn(variable, container, pod, faults)),
  ];
  const names = entries.map(([name]) => name);
  faults.push(...names.filter((name, n) => names.indexOf(name) < n).map((name) => `${name} is set twice`));
  const env = Object.fromEntries(entries);
  faults.push(...findRemovedSettings(serviceOf(container) ?? '', env));
  const config = read(serviceOf(container), env, faults);
  if (faults.length === 0)
    faults.push(...names.filter((name) => !(name in config)).map((name) => `knows no setting ${name}`));
  return { config, faults };
}

/** Finds settings that are missing, misspelt, set twice, in ConfigMaps that no container reads, or that disagree with ports and addresses. */
export function checkSettings(manifests: readonly Manifest[]): string[] {
  const used = workloadsOf(manifests).flatMap(({ pod }) => [
    ...pod.containers.flatMap(configMapsOf),
    ...(pod.volumes ?? []).map(({ configMap }) => configMap?.name),
  ]);
  return [
    ...checkContainers(manifests, (container, { pod }) => {
      if (!serviceOf(container)) return [];
      const { config, faults } = settingsOf(container, pod, manifests);
      return [...faults, ...portFaults(config, container), ...addressFaults(config, manifests)];
    }),
    ...ofKind(manifests, 'ConfigMap')
      .filter(({ metadata }) => !used.includes(metadata.name))
      .map(({ metadata }) => `ConfigMap ${metadata.name}: not used`),
  ];
}

function portFaults(config: ContainerSettings['config'], { ports = [] }: Container): string[] {
  const declared = Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]));
  return faultsIf({
    'http is not PORT': 'PORT' in config && declared['http'] !== config['PORT'],
    'ops is not OPS_PORT': 'OPS_PORT' in config && declared['ops'] !== config['OPS_PORT'],
    'listens on loopback only': config.HOST?.startsWith('127.'),
  });
}

/** An address without a dot must be that of a Service. */
function addressFaults(config: ContainerSettings['config'], manifests: readonly Manifest[]): string[] {
  const services = ofKind<ServiceSpec>(manifests, 'Service').flatMap(({ metadata, spec }) =>
    spec.ports.map(({ port }) => `${metadata.name}:${port}`),
  );
  return [config['VERIFIER_URL'], config['S3_ENDPOINT']]
    .filter((address) => typeof address === 'string')
    .map((address) => new URL(address))
    .filter(({ hostname, host }) => !hostname.includes('.') && !services.includes(host))
    .map(({ origin }) => `no Service is at ${origin}`);
}

function configMapsOf({ envFrom = [] }: Container): (string | undefined)[] {
  return envFrom.map(({ configMapRef }) => configMapRef?.name);
}

function settingIn(
  { name, value = '' }: EnvVariable,
  { volumeMounts = [] }: Container,
  { volumes = [] }: PodSpec,
  faults: string[],
): [name: string, value: string] {
  const [, secret] = /^(.+)_FILE$/.exec(name) ?? [];
  if (!secret) return [name, value];
  const files = volumeMounts.flatMap((mount) => {
    const items = volumes.find((volume) => volume.name === mount.name)?.secret?.items ?? [];
    return items.map(({ key, path }) => ({ key, path: `${mount.mountPath}/${path}` }));
  });
  const file = files.find(({ path }) => path === value);
  if (!file) faults.push(`no secret is mounted at ${value}`);
  return [secret, file?.key.endsWith('_REDIS_URL') ? redisUrl : anySecret];
}

function read(service: string | undefined, env: NodeJS.ProcessEnv, faults: string[]): Record<string, unknown> {
  try {
    if (service === 'admin') return { ...readStoreConfig(env), ...readSweepConfig(env) };
    if (service && service in serviceConfigs) return { ...serviceConfigs[service as ServiceName].readConfig(env) };
    faults.push(`there is no service ${service}`);
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    faults.push(...error.faults);
  }
  return {};
}

import { InvalidSettings } from '@echodrop/service/env';
import type { ProcessSettings } from '@echodrop/service/process-settings';
import { readStoreConfig, readSweepConfig } from '../../../services/admin/src/config.ts';
import { configReaders, type ServiceName } from '../../local/services.ts';
import {
  type Container,
  type EnvVariable,
  type Manifest,
  type PodSpec,
  type Workload,
  workloadsOf,
} from './manifests.ts';

/** Where Redis is is a secret, as the address holds a password. */
const redisUrl = 'redis://user:password@redis:6379';
const anySecret = 'a secret that only the checks have';

/** The settings that a container of ours starts with; `faults` in sentences, and then `config` is what could be read all the same. */
export interface ContainerSettings {
  readonly config: Readonly<Record<string, unknown>> & Partial<ProcessSettings>;
  readonly faults: readonly string[];
}

/** The service whose image the container runs: the name of its folder below services/. */
export function serviceOf({ image }: Container): string | undefined {
  return /^(?:.*\/)?echodrop\/([a-z-]+):/.exec(image)?.[1];
}

/** What the real readConfig of a container's service says of its environment. */
export function settingsOf(container: Container, pod: PodSpec, manifests: readonly Manifest[]): ContainerSettings {
  const faults: string[] = [];
  const env = environmentOf(container, pod, manifests, faults);
  const config = read(serviceOf(container), env, faults);
  const unknown = faults.length > 0 ? [] : Object.keys(env).filter((name) => !(name in config));
  return { config, faults: [...faults, ...unknown.map((name) => `knows no setting ${name}`)] };
}

/** What is wrong with settings: missing, misspelt, set twice, or in ConfigMaps that no container reads. */
export function settingFaults(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsOf(manifests);
  const used = new Set(workloads.flatMap(configMapsOf));
  const unused = manifests.filter(({ kind, metadata }) => kind === 'ConfigMap' && !used.has(metadata.name));
  return [
    ...workloads.flatMap(({ name, pod }) =>
      pod.containers
        .filter((container) => serviceOf(container))
        .flatMap((container) => settingsOf(container, pod, manifests).faults.map((fault) => `${name}: ${fault}`)),
    ),
    ...unused.map(({ metadata }) => `ConfigMap ${metadata.name}: not used`),
  ];
}

function configMapsOf({ pod }: Workload): string[] {
  const read = pod.containers.flatMap(({ envFrom = [] }) =>
    envFrom.map(({ configMapRef }) => configMapRef?.name ?? ''),
  );
  return [...read, ...(pod.volumes ?? []).map(({ configMap }) => configMap?.name ?? '')];
}

function environmentOf(
  container: Container,
  pod: PodSpec,
  manifests: readonly Manifest[],
  faults: string[],
): Record<string, string> {
  const given = [
    ...(container.envFrom ?? []).flatMap(({ configMapRef }) => configMapEntries(configMapRef?.name, manifests, faults)),
    ...(container.env ?? []).map((variable) => ownEntry(variable, container, pod, faults)),
  ];
  const twice = given.filter(([name], n) => given.findIndex(([other]) => other === name) < n);
  faults.push(...twice.map(([name]) => `${name} is set twice`));
  return Object.fromEntries(given);
}

type Entry = readonly [name: string, value: string];

function configMapEntries(name: string | undefined, manifests: readonly Manifest[], faults: string[]): Entry[] {
  const map = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
  if (!map) faults.push(`there is no ConfigMap ${name}`);
  return Object.entries(map?.data ?? {});
}

function ownEntry(
  { name, value = '', valueFrom }: EnvVariable,
  container: Container,
  pod: PodSpec,
  faults: string[],
): Entry {
  const [, secret] = /^(.+)_FILE$/.exec(name) ?? [];
  if (secret) return [secret, secretIn(value, container, pod, faults)];
  return [name, valueFrom ? secretValue(valueFrom.secretKeyRef?.key ?? '') : value];
}

function secretIn(path: string, { volumeMounts = [] }: Container, { volumes = [] }: PodSpec, faults: string[]): string {
  for (const { name, mountPath } of volumeMounts) {
    const items = volumes.find((volume) => volume.name === name)?.secret?.items ?? [];
    const item = items.find((each) => `${mountPath}/${each.path}` === path);
    if (item) return secretValue(item.key);
  }
  faults.push(`no secret is mounted at ${path}`);
  return anySecret;
}

function secretValue(key: string): string {
  return key.endsWith('_REDIS_URL') ? redisUrl : anySecret;
}

function read(service: string | undefined, env: NodeJS.ProcessEnv, faults: string[]): Record<string, unknown> {
  try {
    if (service === 'admin') return { ...readStoreConfig(env), ...readSweepConfig(env) };
    if (service && service in configReaders) return { ...configReaders[service as ServiceName](env) };
    faults.push(`there is no service ${service}`);
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    faults.push(...error.faults);
  }
  return {};
}

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { generatedSecretFile } from '@echodrop/client/local-system';
import getPort from 'get-port';
import { generatedSecrets, localEnvironments } from './default-settings.ts';
import type { RedisLogin } from './local-redis.ts';
import { readAllSettings } from './read-all-settings.ts';
import type { ServiceConfig, ServiceName } from './services.ts';

/** What is decided before anything starts. */
export interface SystemPlan {
  /** The absolute path of DATA_DIR. */
  readonly dataDir: string;
  readonly environments: ReadonlyMap<ServiceName, NodeJS.ProcessEnv>;
  readonly configs: ReadonlyMap<ServiceName, ServiceConfig>;
  /** The system's Redis; undefined if the settings of every service name another. */
  readonly redis: RedisLogin | undefined;
}

/**
 * Decides what runs and with which settings; generates missing secrets, and a new password of Redis. `publicSandbox`: see `localEnvironments`.
 * @throws InvalidSettings
 */
export async function planSystem(env: NodeJS.ProcessEnv, dataDir: string, publicSandbox?: string): Promise<SystemPlan> {
  const environments = localEnvironments(env, dataDir, publicSandbox);
  await generateSecrets(dataDir, environments.values());
  const file = generatedSecretFile(dataDir, 'REDIS_URL');
  const redis = usesOwnRedis(environments, dataDir)
    ? { port: await getPort({ host: '127.0.0.1' }), password: newSecret() }
    : undefined;
  if (redis) await writeSecretFile(file, `redis://default:${redis.password}@127.0.0.1:${redis.port}`);
  return { dataDir, environments, configs: readAllSettings(environments, env), redis };
}

/** Whether the settings of a service name no Redis: the system then starts its own. */
export function usesOwnRedis(environments: SystemPlan['environments'], dataDir: string): boolean {
  const file = generatedSecretFile(dataDir, 'REDIS_URL');
  return environments.values().some((each) => each['REDIS_URL_FILE'] === file);
}

/** Generates the secrets that a service reads from DATA_DIR and that do not exist. */
export async function generateSecrets(dataDir: string, environments: Iterable<NodeJS.ProcessEnv>): Promise<void> {
  const used = Array.from(environments).flatMap((env) => Object.values(env));
  const files = [...generatedSecrets, 'API_KEYS'].map((name) => generatedSecretFile(dataDir, name));
  for (const file of files) if (used.includes(file) && !existsSync(file)) await writeSecretFile(file, newSecret());
}

/** A new secret: 256 random bits as letters, digits, `-` and `_`. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Writes a file atomically; only the owner can read it and its folder. */
async function writeSecretFile(file: string, secret: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, secret, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

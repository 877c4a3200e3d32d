import { generatedSecretFile } from '@echodrop/client/local-system';
import getPort from 'get-port';
import { localEnvironments } from './local-environment.ts';
import { addressOf, type RedisLogin } from './own-redis.ts';
import { makeOwnSecrets, newSecret, writeSecretFile } from './own-secrets.ts';
import { readAllSettings } from './read-all-settings.ts';
import type { ServiceConfig, ServiceName } from './services.ts';

/** All that is decided before anything is started. */
export interface SystemPlan {
  /** An absolute path. */
  readonly dataDir: string;
  readonly environments: ReadonlyMap<ServiceName, NodeJS.ProcessEnv>;
  readonly configs: ReadonlyMap<ServiceName, ServiceConfig>;
  /** The Redis that belongs to the system; undefined if every service has another in its settings. */
  readonly redis: RedisLogin | undefined;
}

/**
 * Settles what runs, where, and with which settings; makes the secrets that are missing.
 * @throws InvalidSettings
 */
export async function planSystem(env: NodeJS.ProcessEnv, dataDir: string): Promise<SystemPlan> {
  const environments = localEnvironments(env, dataDir);
  await makeOwnSecrets(dataDir, environments.values());
  const redis = await planRedis(environments.values(), generatedSecretFile(dataDir, 'REDIS_URL'));
  return { dataDir, environments, configs: readAllSettings(environments, env), redis };
}

// Its password is a new one at each start.
async function planRedis(environments: Iterable<NodeJS.ProcessEnv>, file: string): Promise<RedisLogin | undefined> {
  if (![...environments].some((env) => env['REDIS_URL_FILE'] === file)) return undefined;
  const login = { port: await getPort({ host: '127.0.0.1' }), password: newSecret() };
  await writeSecretFile(file, addressOf(login));
  return login;
}

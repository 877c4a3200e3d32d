import { generatedSecretFile } from '@echodrop/client/local-system';
import getPort from 'get-port';
import { generateSecrets, newSecret, writeSecretFile } from './generated-secrets.ts';
import { localEnvironments } from './local-environment.ts';
import type { RedisLogin } from './local-redis.ts';
import { readAllSettings } from './read-all-settings.ts';
import type { ServiceConfig, ServiceName } from './services.ts';

/** What is decided before anything starts. */
export interface SystemPlan {
  /** An absolute path. */
  readonly dataDir: string;
  readonly environments: ReadonlyMap<ServiceName, NodeJS.ProcessEnv>;
  readonly configs: ReadonlyMap<ServiceName, ServiceConfig>;
  /** The system's Redis; undefined if the settings of every service name another. */
  readonly redis: RedisLogin | undefined;
}

/** Decides what runs and with which settings; generates missing secrets, and a new password of Redis. @throws InvalidSettings */
export async function planSystem(env: NodeJS.ProcessEnv, dataDir: string): Promise<SystemPlan> {
  const environments = localEnvironments(env, dataDir);
  await generateSecrets(dataDir, environments.values());
  const file = generatedSecretFile(dataDir, 'REDIS_URL');
  const usesRedis = environments.values().some((each) => each['REDIS_URL_FILE'] === file);
  const redis = usesRedis ? { port: await getPort({ host: '127.0.0.1' }), password: newSecret() } : undefined;
  if (redis) await writeSecretFile(file, `redis://default:${redis.password}@127.0.0.1:${redis.port}`);
  return { dataDir, environments, configs: readAllSettings(environments, env), redis };
}

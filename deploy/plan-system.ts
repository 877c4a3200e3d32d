import getPort from 'get-port';
import { localEnvironments } from './local-environment.ts';
import { makeOwnSecrets } from './own-secrets.ts';
import { readAllSettings } from './read-all-settings.ts';
import type { ServiceConfig, ServiceName } from './services.ts';

/** All that is decided before anything is started. */
export interface SystemPlan {
  /** An absolute path. */
  readonly dataDir: string;
  readonly environments: ReadonlyMap<ServiceName, NodeJS.ProcessEnv>;
  readonly configs: ReadonlyMap<ServiceName, ServiceConfig>;
  /** The port of a Redis that belongs to the system; undefined when every service is told of another. */
  readonly redisPort: number | undefined;
}

/**
 * Settles what runs, where, and with which settings; makes the secrets that are missing.
 * @throws FaultySettings
 */
export async function planSystem(env: NodeJS.ProcessEnv, dataDir: string): Promise<SystemPlan> {
  const port = await getPort({ host: '127.0.0.1' });
  const redisUrl = `redis://127.0.0.1:${port}`;
  const environments = localEnvironments(env, { dataDir, redisUrl });
  const asked = environments.values().some((each) => each['REDIS_URL'] === redisUrl);
  await makeOwnSecrets(dataDir, environments.values());
  return { dataDir, environments, configs: readAllSettings(environments, env), redisPort: asked ? port : undefined };
}

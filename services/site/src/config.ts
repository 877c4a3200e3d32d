import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { port, readSettings, type Settings } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis';

const settings = {
  ...processSettings(9081),
  ...queueRedisSettings,
  ...storeSettings,
  PORT: port(8081),
};

export type SiteConfig = Settings<typeof settings>;

export function readConfig(env: NodeJS.ProcessEnv): SiteConfig {
  return readSettings(settings, env);
}

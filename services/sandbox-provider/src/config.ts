import { port, readSettings, type Settings } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';

const settings = {
  ...processSettings(9085),
  PORT: port(8085),
};

export type SandboxConfig = Settings<typeof settings>;

export function readConfig(env: NodeJS.ProcessEnv): SandboxConfig {
  return readSettings(settings, env);
}

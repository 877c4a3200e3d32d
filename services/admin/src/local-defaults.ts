import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { generatedSecretFile, localAddress, variableOf } from '@echodrop/client/local-system';

const secretNames = ['VERIFIER_SECRET', 'USER_ID_SECRET'];

/**
 * Adds to `env` what a system that `npm start` runs with the same environment uses: settings of the auth-verifier alone
 * (`AUTH_VERIFIER_<NAME>`) under their bare names, its address, the store's folder and the generated secrets. In a container only
 * VERIFIER_URL gets a default, the same as the gateway's.
 */
export function withLocalDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const prefix = variableOf('auth-verifier', '');
  const set = Object.entries(env).filter(([, value]) => value);
  const own = set
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value]);
  const settings: NodeJS.ProcessEnv = { ...Object.fromEntries(set), ...Object.fromEntries(own) };
  const { DATA_DIR: dataDir = 'data' } = settings;
  const secretFiles = secretNames
    .filter((name) => !settings[name])
    .map((name) => [`${name}_FILE`, generatedSecretFile(dataDir, name)] as const)
    .filter(([, file]) => existsSync(file));
  return {
    VERIFIER_URL: localAddress('auth-verifier', env),
    ...Object.fromEntries(secretFiles),
    ...localStore(dataDir, settings),
    ...settings,
  };
}

function localStore(dataDir: string, settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const folder = join(dataDir, 'store');
  const isLocal = !settings['OBJECT_STORE'] && existsSync(folder);
  return isLocal ? { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: folder } : {};
}

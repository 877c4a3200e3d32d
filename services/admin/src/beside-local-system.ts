import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { generatedSecretFile, localAddress, variableOf } from '@echodrop/client/local-system';

// Those of the secrets that `npm start` makes which commands read.
const madeSecrets = ['VERIFIER_SECRET', 'USER_ID_SECRET'];

/**
 * `env` as the auth-verifier has it in a system that `npm start` runs with the same: what is set for it alone (`AUTH_VERIFIER_<NAME>`)
 * under its bare name, where it listens, the store's folder and the secrets that were made for it where none are set. In a container there is nothing of
 * that but VERIFIER_URL's default, which is the gateway's too.
 */
export function besideLocalSystem(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const prefix = variableOf('auth-verifier', '');
  const set = Object.entries(env).filter(([, value]) => value);
  const own = set
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value]);
  const settings = { ...Object.fromEntries(set), ...Object.fromEntries(own) };
  return {
    VERIFIER_URL: localAddress('auth-verifier', env),
    ...madeSecretFiles(settings),
    ...localStore(settings),
    ...settings,
  };
}

function localStore(settings: NodeJS.ProcessEnv): Record<string, string> {
  const folder = join(dataDirOf(settings), 'store');
  const isMeant = !settings['OBJECT_STORE'] && existsSync(folder);
  return isMeant ? { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: folder } : {};
}

function dataDirOf(settings: NodeJS.ProcessEnv): string {
  return settings['DATA_DIR'] ?? 'data';
}

function madeSecretFiles(settings: NodeJS.ProcessEnv): Record<string, string> {
  const files = madeSecrets
    .filter((name) => !settings[name])
    .map((name) => [`${name}_FILE`, generatedSecretFile(dataDirOf(settings), name)] as const)
    .filter(([, file]) => existsSync(file));
  return Object.fromEntries(files);
}

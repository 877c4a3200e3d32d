import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { generatedSecretFile } from '@echodrop/client/local-system';
import { ownSecrets } from './local-environment.ts';

/** Makes the secrets that some service reads from DATA_DIR and that are not there yet; only the owner can read them. */
export async function makeOwnSecrets(dataDir: string, environments: Iterable<NodeJS.ProcessEnv>): Promise<void> {
  const read = [...environments];
  for (const name of ownSecrets) {
    const file = generatedSecretFile(dataDir, name);
    if (existsSync(file) || !read.some((env) => env[`${name}_FILE`] === file)) continue;
    await writeSecretFile(file, newSecret());
  }
}

/** A new secret: 256 random bits as letters, digits, `-` and `_`. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Writes a file, whole or not at all, that only the owner can read; also its folder is made so. */
export async function writeSecretFile(file: string, secret: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.new`;
  await writeFile(unfinished, secret, { mode: 0o600, flush: true });
  await rename(unfinished, file);
}

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { generatedSecretFile } from '@echodrop/client/local-system';
import { generatedSecrets } from './local-environment.ts';

/** Generates the secrets that a service reads from DATA_DIR and that do not exist. */
export async function generateSecrets(dataDir: string, environments: Iterable<NodeJS.ProcessEnv>): Promise<void> {
  const used = Array.from(environments).flatMap((env) => Object.values(env));
  const files = generatedSecrets.map((name) => generatedSecretFile(dataDir, name));
  for (const file of files) if (used.includes(file) && !existsSync(file)) await writeSecretFile(file, newSecret());
}

/** A new secret: 256 random bits as letters, digits, `-` and `_`. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Writes a file atomically; only the owner can read it and its folder. */
export async function writeSecretFile(file: string, secret: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, secret, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
}

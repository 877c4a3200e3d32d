import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedSecretFile } from '@echodrop/client/local-system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownSecrets } from './local-environment.ts';
import { makeOwnSecrets } from './own-secrets.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'own-secrets-'));
});

afterAll(() => rm(folder, { recursive: true }));

/** What services that read these secrets from `dataDir` get. */
const reading = (dataDir: string, names: readonly (typeof ownSecrets)[number][]) => [
  Object.fromEntries(names.map((name) => [`${name}_FILE`, generatedSecretFile(dataDir, name)])),
];

test('secrets are long, different, readable by their owner alone, and stay as they are', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const all = () => Promise.all(ownSecrets.map((name) => readFile(generatedSecretFile(dataDir, name), 'utf8')));
  await makeOwnSecrets(dataDir, reading(dataDir, ownSecrets));
  const made = await all();
  expect(new Set(made).size).toBe(ownSecrets.length);
  for (const secret of made) expect(secret.length).toBeGreaterThanOrEqual(32);
  for (const name of ownSecrets) expect((await stat(generatedSecretFile(dataDir, name))).mode & 0o777).toBe(0o600);
  await makeOwnSecrets(dataDir, reading(dataDir, ownSecrets));
  expect(await all()).toEqual(made);
});

test('only what is missing and read from there is made', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  await makeOwnSecrets(dataDir, reading(dataDir, ['VERIFIER_SECRET']));
  await writeFile(generatedSecretFile(dataDir, 'CACHE_KEY_SECRET'), 'from elsewhere');
  await makeOwnSecrets(dataDir, reading(dataDir, ['CACHE_KEY_SECRET']));
  expect(await readFile(generatedSecretFile(dataDir, 'CACHE_KEY_SECRET'), 'utf8')).toBe('from elsewhere');
  await expect(stat(generatedSecretFile(dataDir, 'USER_ID_SECRET'))).rejects.toThrow('ENOENT');
});

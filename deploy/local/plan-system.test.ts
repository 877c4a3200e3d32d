import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedSecretFile } from '@echodrop/client/local-system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generatedSecrets } from './default-settings.ts';
import { generateSecrets } from './plan-system.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-secrets-'));
});

afterAll(() => rm(folder, { recursive: true }));

/** The environment of a service that reads these secrets from `dataDir`. */
const reading = (dataDir: string, names: readonly (typeof generatedSecrets)[number][]) => [
  Object.fromEntries(names.map((name) => [`${name}_FILE`, generatedSecretFile(dataDir, name)])),
];

test('secrets are long, unique, persistent, and readable only by their owner', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  const all = () => Promise.all(generatedSecrets.map((name) => readFile(generatedSecretFile(dataDir, name), 'utf8')));
  await generateSecrets(dataDir, reading(dataDir, generatedSecrets));
  const made = await all();
  expect(new Set(made).size).toBe(generatedSecrets.length);
  for (const secret of made) expect(secret.length).toBeGreaterThanOrEqual(32);
  for (const name of generatedSecrets)
    expect((await stat(generatedSecretFile(dataDir, name))).mode & 0o777).toBe(0o600);
  await generateSecrets(dataDir, reading(dataDir, generatedSecrets));
  expect(await all()).toEqual(made);
});

test('generates only secrets that are missing and read from there', async () => {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  await generateSecrets(dataDir, reading(dataDir, ['VERIFIER_SECRET']));
  await writeFile(generatedSecretFile(dataDir, 'CACHE_KEY_SECRET'), 'from elsewhere');
  await generateSecrets(dataDir, reading(dataDir, ['CACHE_KEY_SECRET']));
  expect(await readFile(generatedSecretFile(dataDir, 'CACHE_KEY_SECRET'), 'utf8')).toBe('from elsewhere');
  await expect(stat(generatedSecretFile(dataDir, 'USER_ID_SECRET'))).rejects.toThrow('ENOENT');
});

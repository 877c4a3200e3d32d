import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { redisServer, requireSystemTools, ToolsMissing } from './system-tools.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'system-tools-'));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** Restricts PATH to these programs: no other tools, and no package manager. */
async function onlyInPath(...programs: readonly string[]): Promise<void> {
  const directory = await mkdtemp(join(folder, 'path-'));
  for (const name of programs) await writeFile(join(directory, name), '#!/bin/sh\n', { mode: 0o755 });
  vi.stubEnv('PATH', directory);
}

const check = (withRedis: boolean) => requireSystemTools(withRedis, new AbortController().signal);

test('accepts Redis or Valkey', async () => {
  for (const redis of ['redis-server', 'valkey-server']) {
    await onlyInPath(redis, 'ffprobe', 'ffmpeg');
    await check(true);
    expect(await redisServer()).toBe(redis);
  }
});

test('reports what is missing and cannot be installed, and what to do', async () => {
  await onlyInPath();
  const missing = await check(true).catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(ToolsMissing);
  expect(String(missing)).toContain('not found in PATH: redis-server or valkey-server, ffprobe, ffmpeg\n');
  expect(String(missing)).toContain('apt-get install redis-server ffmpeg\n');
  expect(String(missing)).toContain('REDIS_URL');
});

test('reports only what is missing, and no Redis if none is needed', async () => {
  await onlyInPath('ffprobe');
  const missing = await check(false).catch((error: unknown) => error);
  expect(String(missing)).toMatch(/not found in PATH: ffmpeg\n.*apt-get install ffmpeg$/);
});

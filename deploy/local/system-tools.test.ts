import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { redisServer, requireSystemTools, ToolsMissing } from './system-tools.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'system-tools-'));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

afterEach(() => vi.restoreAllMocks());

/** Restricts PATH to these programs: no other tools, and no package manager. `setpriv` and `flock` are there. */
async function onlyInPath(...programs: readonly string[]): Promise<void> {
  const directory = await mkdtemp(join(folder, 'path-'));
  for (const name of ['setpriv', 'flock', ...programs])
    await writeFile(join(directory, name), '#!/bin/sh\n', { mode: 0o755 });
  vi.stubEnv('PATH', directory);
}

const check = (withRedis: boolean, env: NodeJS.ProcessEnv = {}) =>
  requireSystemTools(withRedis, new AbortController().signal, env);

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
  expect(String(missing)).toMatch(/^On .*ffmpeg/m);
  expect(String(missing)).toContain('REDIS_URL');
});

test('reports only what is missing, and no Redis if none is needed', async () => {
  await onlyInPath('ffprobe');
  const missing = await check(false).catch((error: unknown) => error);
  expect(String(missing)).toMatch(/not found in PATH: ffmpeg\nOn [^\n]*$/);
});

describe('as root, where apt-get exists', () => {
  /** Adds an apt-get that makes the programs. @returns what was said, each text followed by the calls of apt-get until then */
  async function withApt(...programs: readonly string[]): Promise<string[]> {
    await onlyInPath(...programs);
    const directory = process.env['PATH'] ?? '';
    const log = join(directory, 'log');
    const script = `#!/bin/sh\necho "apt-get $*" >>'${log}'\nfor name in redis-server ffprobe ffmpeg; do /bin/cp "$0" '${directory}'/$name; done\n`;
    await writeFile(join(directory, 'apt-get'), script, { mode: 0o755 });
    await writeFile(log, '');
    vi.spyOn(process, 'getuid').mockReturnValue(0);
    const events: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      events.push(`said: ${text}`, `calls before: ${readFileSync(log, 'utf8')}`);
      return true;
    });
    return events;
  }

  test('says what it installs, and how to forbid it, before apt-get runs', async () => {
    const events = await withApt('ffprobe', 'ffmpeg');
    await check(true);
    expect(events[0]).toMatch(
      /installs packages on this machine, once: apt-get install redis-server\b.*\n.*INSTALL_PACKAGES=0/,
    );
    expect(events[1]).toBe('calls before: ');
    expect(await redisServer()).toBe('redis-server');
  });

  test('INSTALL_PACKAGES=0 forbids it: the message says what to install', async () => {
    const events = await withApt('ffprobe', 'ffmpeg');
    const missing = await check(true, { INSTALL_PACKAGES: '0' }).catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(ToolsMissing);
    expect(String(missing)).toContain('not found in PATH: redis-server or valkey-server\n');
    expect([events, await redisServer()]).toEqual([[], undefined]);
  });

  test('another value is an invalid setting', async () => {
    await expect(check(true, { INSTALL_PACKAGES: 'no' })).rejects.toThrow(InvalidSettings);
  });
});

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { MediaType } from '../media-type.ts';
import { prepareTools } from './prepare-tools.ts';

afterEach(() => vi.unstubAllEnvs());

async function logged(typesOff: readonly MediaType[] = []) {
  const log = { info: vi.fn(), warn: vi.fn() };
  const config = { MEDIA_SANDBOX: 'full', MEDIA_TYPES_OFF: new Set(typesOff) };
  const service = { config, log, metrics: { gauge: () => ({ set: vi.fn() }) }, health: { setDetail: vi.fn() } };
  await prepareTools(service as unknown as Parameters<typeof prepareTools>[0]);
  return { info: log.info.mock.calls, warn: log.warn.mock.calls };
}

test('logs the version of each media tool once', async () => {
  const version = expect.stringMatching(/^\d+\.\d+/);
  const tools = { ffprobe: version, ffmpeg: version, sharp: version, 'libheif-js': version };
  const { info, warn } = await logged();
  expect(info.filter(([fields]) => 'tools' in fields)).toEqual([[{ tools }, 'Media tool versions']]);
  expect(warn).toEqual([]);
});

test('warns about a tool that cannot run', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'no-tools-'));
  vi.stubEnv('PATH', folder.path);
  const message = 'Media tool cannot run; media that needs it will fail';
  expect((await logged()).warn).toEqual([
    [{ tool: 'ffprobe' }, message],
    [{ tool: 'ffmpeg' }, message],
  ]);
});

test('logs the types that are turned off', async () => {
  expect((await logged(['avif', 'heic'])).info).toContainEqual([{ types: ['avif', 'heic'] }, 'Media types disabled']);
});

import type { Log } from '@echodrop/service/log';
import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { afterEach, expect, test, vi } from 'vitest';
import type { MediaType } from './media-type.ts';
import { setSandboxMode } from './sandbox/sandbox.ts';
import { logTools, toolVersions } from './tool-versions.ts';

afterEach(() => vi.unstubAllEnvs());

async function logged(typesOff: readonly MediaType[] = []) {
  const log = { info: vi.fn(), warn: vi.fn() };
  logTools(log as unknown as Log, await toolVersions(), new Set(typesOff));
  return { info: log.info.mock.calls, warn: log.warn.mock.calls };
}

test('logs the version of each media tool once', async () => {
  const version = expect.stringMatching(/^\d+\.\d+/);
  const tools = { ffprobe: version, ffmpeg: version, sharp: version, 'libheif-js': version };
  expect(await logged()).toEqual({ info: [[{ tools }, 'Media tool versions']], warn: [] });
});

test('warns about a tool that cannot run', async () => {
  // In the sandbox, a shell script could not start.
  setSandboxMode('limits-only');
  await using ffprobe = await hostileFfprobe('exit 127');
  vi.stubEnv('PATH', ffprobe.path);
  expect((await logged()).warn).toEqual([
    [{ tool: 'ffprobe' }, 'Media tool cannot run; media that needs it will fail'],
  ]);
});

test('logs the types that are turned off', async () => {
  expect((await logged(['avif', 'heic'])).info).toContainEqual(['MEDIA_TYPES_OFF turns off avif, heic']);
});

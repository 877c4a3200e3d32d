import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { execa } from 'execa';
import { afterEach, expect, test, vi } from 'vitest';
import type { MediaType } from '../detect-media-type.ts';
import { missingEncoders, prepareTools } from './prepare-tools.ts';
import { type SandboxMode, setSandboxMode } from './sandbox.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  setSandboxMode('full');
});

function prepared(typesOff: readonly MediaType[] = [], mode: SandboxMode = 'full') {
  const log = { info: vi.fn(), warn: vi.fn() };
  const config = { MEDIA_SANDBOX: mode, MEDIA_TYPES_OFF: new Set(typesOff) };
  const set = vi.fn();
  const setDetail = vi.fn();
  const gauge = vi.fn(() => ({ set }));
  const service = { config, log, metrics: { gauge }, health: { setDetail } };
  const preparing = prepareTools(service as unknown as Parameters<typeof prepareTools>[0]);
  return { log, set, setDetail, gauge, preparing };
}

async function logged(typesOff: readonly MediaType[] = []) {
  const { log, preparing } = prepared(typesOff);
  await preparing;
  return { info: log.info.mock.calls, warn: log.warn.mock.calls };
}

test.each([
  ['full', 1],
  ['limits-only', 0],
] as const)('reports the mode %s in a gauge and in /readyz', async (mode, value) => {
  const { set, setDetail, gauge, preparing } = prepared([], mode);
  await preparing;
  expect(setDetail.mock.calls).toEqual([['mediaSandbox', mode]]);
  expect(gauge.mock.calls).toEqual([['echodrop_media_sandbox_enforced', expect.any(String)]]);
  expect(set.mock.calls).toEqual([[value]]);
});

test('refuses to start with a tool that does not run in the sandbox, and reports no mode', async () => {
  // The sandbox cannot start a script, because its interpreter is another program.
  await using ffprobe = await hostileFfprobe('exit 0');
  vi.stubEnv('PATH', ffprobe.path);
  const { setDetail, gauge, preparing } = prepared();
  await expect(preparing).rejects.toThrow(
    /^Media tool failed its test run with MEDIA_SANDBOX=full: .*ffprobe.*\. If the sandbox is the reason, set MEDIA_SANDBOX=limits-only\.$/,
  );
  expect([...setDetail.mock.calls, ...gauge.mock.calls]).toEqual([]);
});

test('logs the version of each media tool once, and the types that are turned off', async () => {
  const version = expect.stringMatching(/^\d+\.\d+/);
  const tools = { ffprobe: version, ffmpeg: version, sharp: version, 'libheif-js': version };
  const { info, warn } = await logged(['avif', 'heic']);
  expect(info.filter(([fields]) => 'tools' in fields)).toEqual([
    [{ tools, typesOff: ['avif', 'heic'] }, 'Media tool versions'],
  ]);
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

test('finds what an ffmpeg without H.264 lacks', async () => {
  const { stdout } = await execa('ffmpeg', ['-encoders']);
  expect(missingEncoders(stdout)).toEqual([]);
  const lines = stdout.split('\n').filter((line) => !/^ \S{6} libx264 /.test(line));
  expect(missingEncoders(lines.join('\n'))).toEqual(['libx264']);
  expect(missingEncoders('')).toEqual(['libx264', 'aac']);
});

import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@echodrop/testkit/free-ports';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';

const program = join(import.meta.dirname, 'run-service.fixture.ts');

async function start(settings: Record<string, string> = {}) {
  const ports = await freePorts(['app', 'ops']);
  const process_ = execa(process.execPath, [program], {
    env: { PORT: `${ports.app}`, OPS_PORT: `${ports.ops}`, TOKEN: 'correct horse', ...settings },
    reject: false,
    forceKillAfterDelay: false,
  });
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${ports.ops}${path}`)).status;
  return {
    process: process_,
    status,
    app: `http://127.0.0.1:${ports.app}`,
    becomes: (path: string, wanted: number) =>
      waitUntil(`${wanted} from ${path}`, async () => (await status(path)) === wanted),
    /** Waits for the end; returns exit status and log messages. */
    async ended() {
      const { exitCode, stdout } = await process_;
      const lines = stdout.split('\n').filter((line) => line !== '');
      return { exitCode, log: lines.map((line) => JSON.parse(line).msg) };
    },
  };
}

const stopped = ['first part closed', 'Stopped'];

describe.concurrent('a service', () => {
  test('invalid settings: lists all on standard error, exits with status 78', async () => {
    const { process } = await start({ TOKEN: 'hunter2', PORT: 'web', LOG_LEVEL: 'loud', SHUTDOWN_GRACE_SECONDS: '-1' });
    const { exitCode, stdout, stderr } = await process;
    expect([exitCode, stdout]).toEqual([78, '']);
    expect(stderr.split('\n').toSorted()).toEqual([
      'sample: LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      'sample: PORT must be a whole number from 0 to 65535',
      'sample: SHUTDOWN_GRACE_SECONDS must be a whole number from 0 to 86400',
      'sample: TOKEN must have at least 8 characters',
    ]);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: not ready but serving during the delay, then status 0',
    async (signal) => {
      const service = await start({ SHUTDOWN_DELAY_SECONDS: '1' });
      await service.becomes('/readyz', 200);
      expect((await fetch(service.app)).headers.get('connection')).toBe('keep-alive');
      service.process.kill(signal);
      await service.becomes('/readyz', 503);
      expect(await service.status('/livez')).toBe(200);
      const response = await fetch(service.app);
      expect([response.headers.get('connection'), await response.text()]).toEqual(['close', '[secret]']);
      await fetch(`${service.app}/go-on`);
      expect(await service.ended()).toEqual({ exitCode: 0, log: ['Listening', 'Ready', 'Stopping', ...stopped] });
    },
  );

  test('completes a running request; further signals have no effect', async () => {
    const service = await start();
    await service.becomes('/readyz', 200);
    const response = fetch(`${service.app}/slow`);
    await fetch(`${service.app}/slow-begun`);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) service.process.kill(signal);
    expect((await response).status).toBe(200);
    expect(await service.ended()).toEqual({ exitCode: 0, log: ['Listening', 'Ready', 'Stopping', ...stopped] });
  });

  test('warnings of Node, and the error that ends the process, are lines of the log', async () => {
    const { process } = await start({ START: 'crashes' });
    const { exitCode, stdout, stderr } = await process;
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^[ -~\n]+$/);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', err: expect.objectContaining({ message: 'a warning \u009b31m' }) }),
    );
    expect(lines.at(-1)).toMatchObject({
      level: 'fatal',
      msg: 'Uncaught error',
      err: { message: 'a defect \u009b31m' },
    });
  });

  test('a signal during startup exits at once, even with an open handle without an owner, and disposes of what was built', async () => {
    const service = await start({ START: 'never' });
    await service.becomes('/livez', 200);
    expect(await service.status('/readyz')).toBe(503);
    service.process.kill('SIGTERM');
    expect(await service.ended()).toEqual({ exitCode: 0, log: stopped });
  });

  test('the compile cache is written before anything is built, so that it delays no connection', async () => {
    await using cache = await mkdtempDisposable(join(tmpdir(), 'compile-cache-'));
    const service = await start({ START: 'never', NODE_COMPILE_CACHE: cache.path });
    await service.becomes('/livez', 200);
    expect((await readdir(cache.path, { recursive: true })).length).toBeGreaterThan(10);
    service.process.kill('SIGKILL');
    await service.process;
  });

  test('a failed start disposes of what was built: status 1', async () => {
    const service = await start({ START: 'fails' });
    expect(await service.ended()).toEqual({ exitCode: 1, log: ['Fatal error', ...stopped] });
  });

  test('a component that never closes: exits five seconds after the grace period with status 1', async () => {
    const service = await start({ START: 'sticks', SHUTDOWN_GRACE_SECONDS: '0' });
    await service.becomes('/readyz', 200);
    service.process.kill();
    expect(await service.ended()).toEqual({
      exitCode: 1,
      log: ['Listening', 'Ready', 'Stopping', 'Shutdown timed out; exiting with open resources'],
    });
  });
});

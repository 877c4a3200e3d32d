import { chmod, copyFile, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';

const parts = new AsyncDisposableStack();
let launcher: string;

// Where any user may start it.
beforeAll(async () => {
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'within-limits-'))).path;
  await chmod(folder, 0o755);
  launcher = join(folder, 'within-limits');
  await copyFile(join(import.meta.dirname, 'within-limits'), launcher);
});
afterAll(() => parts.disposeAsync());

interface Started {
  readonly namespaces?: 'private' | 'shared';
  readonly seconds?: number;
  readonly fileBytes?: number;
  /** Started by somebody who is not root, who is exempt from some limits. */
  readonly unprivileged?: boolean;
}

function start(script: string, { namespaces = 'private', seconds = 10, fileBytes = 0, unprivileged }: Started = {}) {
  const as = unprivileged && process.getuid?.() === 0 ? ['--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const limits = [namespaces, seconds, 5, 1024 ** 3, fileBytes].map(String);
  return execa('setpriv', [...as, launcher, ...limits, 'sh', '-c', script], { reject: false, timeout: 20_000 });
}

const isAllowed =
  (await execa('unshare', ['--user', '--net', '--pid', '--fork', 'true'], { reject: false })).exitCode === 0;
const everywhere = isAllowed ? (['private', 'shared'] as const) : (['shared'] as const);

test.each(everywhere)('in %s namespaces a tool has the limits that were given, and no more', async (namespaces) => {
  const said = 'ulimit -t; ulimit -Ht; ulimit -v; ulimit -n; ulimit -c; ulimit -f; grep NoNewPrivs /proc/self/status';
  const { stdout } = await start(said, { namespaces, fileBytes: 512 * 1024 });
  expect(stdout.split(/\s+/)).toEqual(['5', '6', '1048576', '64', '0', '1024', 'NoNewPrivs:', '1']);
});

test.each(everywhere)('in %s namespaces it is killed in time where nobody else does so', async (namespaces) => {
  const before = performance.now();
  const { signal, exitCode } = await start('trap "" TERM; while :; do sleep 60; done', { namespaces, seconds: 1 });
  expect(performance.now() - before).toBeLessThan(4000);
  expect(signal ?? exitCode).toBe('SIGKILL');
});

test.runIf(isAllowed)('in private namespaces there is no network but a loopback that is down', async () => {
  const { stdout } = await start('tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route');
  expect(stdout.trim()).toBe('lo');
});

test.runIf(isAllowed)('in private namespaces nobody can be signalled', async () => {
  const { exitCode } = await start(`kill -0 ${process.pid}`);
  expect(exitCode).not.toBe(0);
});

test.runIf(isAllowed)('in private namespaces an unprivileged tool cannot fork without end', async () => {
  const forks = 'n=0; while [ $n -lt 100 ]; do sleep 600 & n=$((n + 1)); done; echo all';
  const { stdout, stderr } = await start(forks, { unprivileged: true });
  expect({ stdout, stderr }).toMatchObject({ stdout: '', stderr: expect.stringContaining('Cannot fork') });
});

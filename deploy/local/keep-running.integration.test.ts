import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepRunning } from './keep-running.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keep-running-'));
});

afterAll(() => rm(directory, { recursive: true }));

/** Keeps a shell script running; `lines` reads its log. */
function keep(name: string, script: string, stopWithinMs = 5000) {
  const kept = keepRunning(
    { name, command: ['sh', '-c', script], env: { PATH: process.env['PATH'] }, stopWithinMs, showAll: false },
    directory,
  );
  const lines = async () =>
    (await readFile(join(directory, `${name}.log`), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  return { kept, lines };
}

const exists = (pid: string | undefined) => {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
};

test('restarts a failing program with growing pauses', async () => {
  const { kept, lines } = keep('dying', 'date +%s%N; exit 1');
  await using _ = kept;
  await waitUntil('the third run', async () => (await lines()).length >= 3);
  const [first = 0n, second = 0n, third = 0n] = (await lines()).map(BigInt);
  expect(Number(second - first) / 1e6).toBeGreaterThan(450);
  expect(third - second).toBeGreaterThan(second - first);
});

test('restarts a killed program', async () => {
  const { kept, lines } = keep('killed', 'echo $$; exec sleep 60');
  await using _ = kept;
  await waitUntil('the first run', async () => (await lines()).length === 1);
  process.kill(Number((await lines())[0]), 'SIGKILL');
  await waitUntil('the second run', async () => (await lines()).length === 2);
});

test('does not restart a program that ends with status 78', async () => {
  const { kept, lines } = keep('faulty', 'echo run; exit 78');
  await using _ = kept;
  await expect(kept.failed).rejects.toThrow(InvalidSettings);
  expect(await lines()).toEqual(['run']);
});

test('disposing lets the program end gracefully and does not restart it', async () => {
  const { kept, lines } = keep('ending', 'trap "echo ended; exit 0" TERM; echo started; while :; do sleep 0.05; done');
  await waitUntil('the start', async () => (await lines()).length === 1);
  await kept[Symbol.asyncDispose]();
  expect(await lines()).toEqual(['started', 'ended']);
});

test('disposing ends a pause', async () => {
  const { kept, lines } = keep('pausing', 'echo run; exit 1');
  await waitUntil('the third run', async () => (await lines()).length === 3);
  const begun = performance.now();
  await kept[Symbol.asyncDispose]();
  expect(performance.now() - begun).toBeLessThan(1000);
  expect(await lines()).toHaveLength(3);
});

test('kills a program that does not end in time, with its descendants', async () => {
  const { kept, lines } = keep(
    'stubborn',
    'trap "" TERM; sleep 60 & echo $!; timeout 60 sleep 60 & echo $!; echo $$; wait; wait',
    300,
  );
  await waitUntil('all processes', async () => (await lines()).length === 3);
  const pids = await lines();
  await kept[Symbol.asyncDispose]();
  await waitUntil('the end of all processes', async () => !pids.some(exists));
});

test('retries a program that fails to start', async () => {
  const program = join(directory, 'not-there-yet');
  const ran = join(directory, 'ran');
  await using _kept = keepRunning(
    { name: 'late', command: [program], env: {}, stopWithinMs: 1000, showAll: false },
    directory,
  );
  await writeFile(program, `#!/bin/sh\n: > '${ran}'\nexec sleep 60\n`, { mode: 0o755 });
  await waitUntil('the program to run', async () => (await readFile(ran)).length === 0);
});

import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { isRunning } from '@echodrop/testkit/is-running';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { keepRunning } from './keep-running.ts';
import { terminalOutput } from './terminal.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keep-running-'));
});

afterAll(() => rm(directory, { recursive: true }));

interface KeepOptions {
  readonly stopWithinMs?: number;
  readonly pauseMs?: number;
}

/** Keeps a shell script running; `lines` reads its log. */
function keep(name: string, script: string, { stopWithinMs = patienceMs, pauseMs }: KeepOptions = {}) {
  const kept = keepRunning(
    { name, command: ['sh', '-c', script], env: { PATH: process.env['PATH'] }, stopWithinMs, showAll: false },
    terminalOutput(directory),
    pauseMs,
  );
  const lines = async () =>
    (await readFile(join(directory, `${name}.log`), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  return { kept, lines };
}

test('restarts a failing program after a pause', async () => {
  const said = vi.spyOn(process.stdout, 'write');
  const { kept, lines } = keep('dying', 'date +%s%N; exit 1');
  await using _ = kept;
  await waitUntil('the second run', async () => (await lines()).length >= 2);
  const [first = 0n, second = 0n] = (await lines()).map(BigInt);
  // A busy machine starts a run late, but never early.
  expect(Number(second - first) / 1e6).toBeGreaterThan(950);
  const pauses = said.mock.calls.flatMap(([text]) => /^dying .*; restarting in (.*) s\n$/.exec(`${text}`)?.[1] ?? []);
  expect(pauses[0]).toBe('1');
});

test('shows the last five lines of a failing program that the terminal has not shown, escaped, and names its log', async () => {
  const said = vi.spyOn(process.stdout, 'write');
  const { kept } = keep('telling', 'seq 9; echo shown >&2; sleep 0.1; echo "bad \\033[2J"; exit 1', { pauseMs: 10 });
  await using _ = kept;
  const lines = () => said.mock.calls.flatMap(([text]) => /^telling +(.*)\n$/.exec(`${text}`)?.[1] ?? []);
  const run = [
    'shown',
    `its last lines, more of them in ${join(directory, 'telling.log')}:`,
    ...['7', '8', '9', 'bad \\u001b[2J'],
    'exited with status 1; restarting in 0.01 s',
  ];
  await waitUntil('two runs', async () => lines().length >= 2 * run.length);
  expect(lines().slice(0, 2 * run.length)).toEqual([...run, ...run]);
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
  const said = vi.spyOn(process.stdout, 'write');
  const { kept, lines } = keep('pausing', 'echo run; exit 1', { pauseMs: 3_600_000 });
  await waitUntil('the pause', async () => said.mock.calls.some(([text]) => `${text}`.includes('in 3600 s')));
  await kept[Symbol.asyncDispose]();
  expect(await lines()).toEqual(['run']);
});

test('kills a program that does not end in time, and processes that it has started', async () => {
  const { kept, lines } = keep('stubborn', 'trap "" TERM; sleep 60 & echo $!; echo $$; wait; wait', {
    stopWithinMs: 300,
  });
  await waitUntil('both processes', async () => (await lines()).length === 2);
  const pids = await lines();
  await kept[Symbol.asyncDispose]();
  await waitUntil('the end of both processes', async () => !pids.some((pid) => isRunning(Number(pid))));
});

test('restarts a program whose processes outlive it', async () => {
  const { kept, lines } = keep('outlived', 'sleep 60 & echo $$; wait');
  await using _ = kept;
  await waitUntil('the first run', async () => (await lines()).length === 1);
  process.kill(Number((await lines())[0]), 'SIGKILL');
  await waitUntil('the second run', async () => (await lines()).length === 2);
});

test('retries a program that fails to start', async () => {
  const program = join(directory, 'not-there-yet');
  const ran = join(directory, 'ran');
  await using _kept = keepRunning(
    { name: 'late', command: [program], env: {}, stopWithinMs: patienceMs, showAll: false },
    terminalOutput(directory),
  );
  await writeFile(program, `#!/bin/sh\n: > '${ran}'\nexec sleep 60\n`, { mode: 0o755 });
  await waitUntil('the program to run', async () => (await readFile(ran)).length === 0);
});

test('bounds the log of a program that writes much, and keeps its last lines', async () => {
  const script = "head -c 25000000 /dev/zero | tr '\\0' x | fold -w 1000; echo; echo last; exec sleep 60";
  const { kept, lines } = keep('chatty', script);
  await using _ = kept;
  await waitUntil('the last line', async () => (await lines()).at(-1) === 'last');
  const names = (await readdir(directory)).filter((name) => name.startsWith('chatty.')).sort();
  expect(names).toEqual(['chatty.log', 'chatty.log.1']);
  for (const name of names) expect((await stat(join(directory, name))).size).toBeLessThanOrEqual(10 * 2 ** 20);
});

test('keeps a program running whose log cannot be written, and says so once', async () => {
  const said = vi.spyOn(process.stdout, 'write');
  await symlink('/dev/full', join(directory, 'full.log'));
  const { kept } = keep('full', 'echo a; echo b; echo c >&2; exec sleep 60');
  await using _ = kept;
  await waitUntil('the third line', async () => said.mock.calls.some(([text]) => /^full +c\n$/.test(`${text}`)));
  const complaints = said.mock.calls.filter(([text]) => /^full +cannot write its log: ENOSPC/.test(`${text}`));
  expect(complaints).toHaveLength(1);
});

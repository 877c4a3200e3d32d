import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { invalidSettingsStatus } from '@echodrop/service/run-service';
import { execa, type Result } from 'execa';
import pRetry, { AbortError } from 'p-retry';
import { killSession } from './kill-session.ts';
import { say, terminalLine } from './terminal.ts';

/** A process that belongs to the system. */
export interface Program {
  readonly name: string;
  /** The command and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  /** How long it may take to end after a SIGTERM; then it is killed. */
  readonly stopWithinMs: number;
  /** Whether all that it logs is shown on the terminal, not only warnings and errors. */
  readonly showAll: boolean;
}

/** A program that is being kept running. Disposing ends it for good. */
export interface Kept extends AsyncDisposable {
  /** Never resolves; rejects with InvalidSettings when the program says that starting it again cannot help. */
  readonly failed: Promise<never>;
}

// After a run this long the next pause is the shortest again.
const steadyMs = 30_000;
const pauses = { retries: Number.POSITIVE_INFINITY, minTimeout: 500, factor: 2, maxTimeout: 30_000 };

/**
 * Starts `program` and starts it again whenever it ends, with growing pauses where it ends soon. All that it writes goes to
 * `<logDir>/<name>.log`, warnings and errors to the terminal as well.
 */
export function keepRunning(program: Program, logDir: string): Kept {
  const stop = new AbortController();
  let running: Running | undefined;

  const runOnce = async () => {
    const startedAt = performance.now();
    running = start(program, logDir);
    const result = await running.ended;
    if (stop.signal.aborted) return;
    if (result.exitCode === invalidSettingsStatus)
      throw new AbortError(new InvalidSettings([`${program.name} gave up`]));
    if (performance.now() - startedAt < steadyMs) throw new Error(howItEnded(result));
    say(program.name, `${howItEnded(result)}; starting it again`);
  };
  const onFailedAttempt = ({ error, retryDelay }: { error: Error; retryDelay: number }) => {
    say(program.name, `${error.message}; starting it again in ${retryDelay / 1000} s`);
  };
  const keep = async () => {
    while (!stop.signal.aborted) await pRetry(runOnce, { ...pauses, onFailedAttempt, signal: stop.signal });
  };

  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const over = keep().catch((error: unknown) => {
    if (!stop.signal.aborted) reject(error);
  });
  return {
    failed,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running?.stop();
      await over;
    },
  };
}

interface Running {
  readonly ended: Promise<Result>;
  stop(): Promise<void>;
}

/**
 * One run, in a session of its own: a Ctrl-C in the terminal reaches the supervisor alone, which ends its programs in order. What a
 * program has started ends with it at the latest, and the program with this process.
 */
function start({ name, command: [file, ...args], env, stopWithinMs, showAll }: Program, logDir: string): Running {
  const log = { file: join(logDir, `${name}.log`), append: true } as const;
  const child = execa(file, args, {
    env,
    extendEnv: false,
    detached: true,
    cleanup: false,
    stdin: 'ignore',
    stdout: ['pipe', log],
    stderr: ['pipe', log],
    buffer: false,
    reject: false,
    forceKillAfterDelay: stopWithinMs,
  });
  endTogether(child.nodeChildProcess);
  const show = async (from: 'stdout' | 'stderr') => {
    for await (const line of child.iterable({ from })) {
      const shown = terminalLine(line, from, showAll);
      if (shown !== undefined) say(name, shown);
    }
  };
  return {
    ended: Promise.all([child, show('stdout'), show('stderr')]).then(([result]) => result as Result),
    async stop() {
      child.kill();
      const { isForcefullyTerminated } = await child;
      if (isForcefullyTerminated) say(name, 'did not end in time and was killed');
    },
  };
}

function endTogether(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const killAll = () => killSession(pid);
  process.once('exit', killAll);
  child.once('exit', () => {
    process.off('exit', killAll);
    killAll();
  });
}

function howItEnded({ exitCode, signal, originalMessage }: Result): string {
  if (signal) return `ended by ${signal}`;
  return exitCode === undefined ? `cannot be run (${originalMessage})` : `ended with status ${exitCode}`;
}

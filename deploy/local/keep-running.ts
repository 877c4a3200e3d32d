import { join } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { invalidSettingsStatus } from '@echodrop/service/run-service';
import { execa, type Result } from 'execa';
import pRetry, { AbortError } from 'p-retry';
import { killSession } from './kill-session.ts';
import { LogFile } from './log-file.ts';
import { say, terminalLine } from './terminal.ts';

/** A process of the system. */
export interface Program {
  readonly name: string;
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** How long it may take to end after SIGTERM, before it is killed. */
  readonly stopWithinMs: number;
  /** Whether its whole log is shown on the terminal, not only warnings and errors. */
  readonly showAll: boolean;
}

/** A program that is kept running. Disposing ends it. */
export interface Kept extends AsyncDisposable {
  /** Never resolves. Rejects with InvalidSettings if the program's exit status says that a restart cannot help. */
  readonly failed: Promise<never>;
}

// After a run this long the next pause is the shortest again.
const steadyMs = 30_000;
const usualPauses = { minTimeout: 500, factor: 2, maxTimeout: 30_000 };

/**
 * Starts `program`, and restarts it if it ends, with growing pauses if it ends soon. Its output goes to the log file `<logDir>/<name>.log`;
 * warnings and errors also go to the terminal.
 */
export function keepRunning(program: Program, logDir: string, pauses = usualPauses): Kept {
  const { name } = program;
  const log = new LogFile(join(logDir, `${name}.log`));
  const stop = new AbortController();
  let running: Running | undefined;

  const runOnce = async () => {
    const startedAt = performance.now();
    running = start(program, writerOf(log, name));
    const result = await running.ended;
    if (stop.signal.aborted) return;
    if (result.exitCode === invalidSettingsStatus)
      throw new AbortError(new InvalidSettings([`${name} exited: invalid settings (listed above)`]));
    if (performance.now() - startedAt < steadyMs) throw new Error(describeEnd(result));
    say(name, `${describeEnd(result)}; restarting`);
  };
  const onFailedAttempt = ({ error, retryDelay }: { error: Error; retryDelay: number }) => {
    say(name, `${error.message}; restarting in ${retryDelay / 1000} s`);
  };
  const options = { ...pauses, retries: Number.POSITIVE_INFINITY, onFailedAttempt, signal: stop.signal };
  const keep = async () => {
    while (!stop.signal.aborted) await pRetry(runOnce, options);
  };

  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const kept = keep().catch((error: unknown) => {
    if (!stop.signal.aborted) reject(error);
  });
  return {
    failed,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running?.stop();
      await kept;
      log[Symbol.dispose]();
    },
  };
}

/** Writes lines to a log. If that fails, as on a full disk, the program goes on, and the terminal says so once. */
function writerOf(log: LogFile, name: string): (line: string) => void {
  let hasFailed = false;
  return (line) => {
    try {
      log.write(line);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) say(name, `cannot write its log: ${error instanceof Error ? error.message : error}`);
      hasFailed = true;
    }
  };
}

type Running = ReturnType<typeof start>;

/**
 * One run, in a new session: Ctrl-C in the terminal reaches only the supervisor, which stops its programs in order. If the program or this
 * process ends, all processes of the session are killed.
 */
function start(
  { name, command: [file = '', ...args], env, stopWithinMs, showAll }: Program,
  log: (line: string) => void,
) {
  const child = execa(file, args, {
    env,
    extendEnv: false,
    detached: true,
    cleanup: false,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
    forceKillAfterDelay: stopWithinMs,
  });
  const killAll = () => child.pid !== undefined && killSession(child.pid);
  process.once('exit', killAll);
  child.nodeChildProcess.once('exit', () => {
    process.off('exit', killAll);
    killAll();
  });
  const show = async (from: 'stdout' | 'stderr') => {
    for await (const line of child.iterable({ from })) {
      log(line);
      const shown = terminalLine(line, from, showAll);
      if (shown !== undefined) say(name, shown);
    }
  };
  return {
    ended: Promise.all([child, show('stdout'), show('stderr')]).then(([result]): Result => result),
    async stop() {
      child.kill();
      const { isForcefullyTerminated } = await child;
      if (isForcefullyTerminated) say(name, 'did not stop in time; killed');
    },
  };
}

function describeEnd({ exitCode, signal, originalMessage }: Result): string {
  if (signal) return `killed by ${signal}`;
  return exitCode === undefined ? `failed to start: ${originalMessage}` : `exited with status ${exitCode}`;
}

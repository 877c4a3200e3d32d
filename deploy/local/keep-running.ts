import { InvalidSettings } from '@echodrop/service/env';
import { invalidSettingsStatus } from '@echodrop/service/run-service';
import { execa, type Result } from 'execa';
import pRetry, { AbortError } from 'p-retry';
import { killSession } from './kill-session.ts';
import type { Output, ProgramLog } from './output.ts';

/** A process of the system. */
export interface Program {
  readonly name: string;
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** What ends it; SIGTERM if undefined. */
  readonly stopSignal?: 'SIGQUIT' | 'SIGTERM';
  /** How long it may take to end after that, before it is killed. */
  readonly stopWithinMs: number;
  /** Whether all of its output is of interest, not only warnings and errors. */
  readonly showAll: boolean;
  /** Whether its standard output is that of this process. nginx opens /dev/stdout, which it cannot if Node reads that. */
  readonly sharesStdout?: boolean;
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
 * Starts `program`, and restarts it if it ends, with growing pauses if it ends soon. What it prints goes to `output`.
 */
export function keepRunning(program: Program, output: Output, pauses = usualPauses): Kept {
  const { name } = program;
  const log = output.openLog(name, program.showAll);
  const say = (text: string) => output.say(name, text);
  const stop = new AbortController();
  let running: Running | undefined;

  const runOnce = async () => {
    const startedAt = performance.now();
    running = start(program, log, say);
    const result = await running.ended;
    if (stop.signal.aborted) return;
    if (result.exitCode === invalidSettingsStatus)
      throw new AbortError(new InvalidSettings([`${name} exited: invalid settings (listed above)`]));
    log.showLast();
    if (performance.now() - startedAt < steadyMs) throw new Error(describeEnd(result));
    say(`${describeEnd(result)}; restarting`);
  };
  const onFailedAttempt = ({ error, retryDelay }: { error: Error; retryDelay: number }) => {
    say(`${error.message}; restarting in ${retryDelay / 1000} s`);
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

type Running = ReturnType<typeof start>;

/**
 * One run, in a new session: Ctrl-C in the terminal reaches only the supervisor, which stops its programs in order. If the program or this
 * process ends, all processes of the session are killed.
 */
function start(
  { command: [file = '', ...args], env, stopSignal = 'SIGTERM', stopWithinMs, sharesStdout = false }: Program,
  log: ProgramLog,
  say: (text: string) => void,
) {
  const child = execa(file, args, {
    env,
    extendEnv: false,
    detached: true,
    cleanup: false,
    stdin: 'ignore',
    stdout: sharesStdout ? 'inherit' : 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
    killSignal: stopSignal,
    forceKillAfterDelay: stopWithinMs,
  });
  const killAll = () => child.pid !== undefined && killSession(child.pid);
  process.once('exit', killAll);
  child.nodeChildProcess.once('exit', () => {
    process.off('exit', killAll);
    killAll();
  });
  const keepOutput = async (from: 'stdout' | 'stderr') => {
    for await (const line of child.iterable({ from })) log.write(line, from);
  };
  return {
    ended: Promise.all([child, !sharesStdout && keepOutput('stdout'), keepOutput('stderr')]).then(
      ([result]): Result => result,
    ),
    async stop() {
      child.kill();
      const { isForcefullyTerminated } = await child;
      if (isForcefullyTerminated) say('did not stop in time; killed');
    },
  };
}

function describeEnd({ exitCode, signal, originalMessage }: Result): string {
  if (signal) return `killed by ${signal}`;
  return exitCode === undefined ? `failed to start: ${originalMessage}` : `exited with status ${exitCode}`;
}

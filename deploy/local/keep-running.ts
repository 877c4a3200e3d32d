import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidSettings } from '@echodrop/service/env';
import { invalidSettingsStatus } from '@echodrop/service/run-service';
import { execa, type Result } from 'execa';
import type { Output, ProgramLog } from './output.ts';

/** A process of the system. */
export interface Program {
  readonly name: string;
  /** The command and its arguments. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The signal that ends the program; SIGTERM if undefined. */
  readonly stopSignal?: 'SIGQUIT' | 'SIGTERM';
  /** How long the program may take to end after the signal, before it is killed. */
  readonly stopWithinMs: number;
  /** Whether all output of the program is of interest, not only warnings and errors. */
  readonly showAll: boolean;
  /** Whether the program has the standard output of this process. nginx opens /dev/stdout, which it cannot if Node reads the output. */
  readonly sharesStdout?: boolean;
}

/** A program that is kept running. Disposing ends it. */
export interface Kept extends AsyncDisposable {
  /** Never resolves. Rejects with InvalidSettings if the program's exit status says that a restart cannot help. */
  readonly failed: Promise<never>;
}

/** Starts `program`, and again after a pause if it ends. What it prints goes to `output`. */
export function keepRunning(program: Program, output: Output, pauseMs = 1000): Kept {
  const { name } = program;
  const log = output.openLog(name, program.showAll);
  const say = (text: string) => output.say(name, text);
  const stop = new AbortController();
  let running: Running | undefined;

  const keep = async () => {
    for (;;) {
      running = start(program, log, say);
      const result = await running.ended;
      if (stop.signal.aborted) return;
      if (result.exitCode === invalidSettingsStatus)
        throw new InvalidSettings([`${name} exited: invalid settings (listed above)`]);
      log.showLast();
      say(`${describeEnd(result)}; restarting in ${pauseMs / 1000} s`);
      await sleep(pauseMs, undefined, { signal: stop.signal });
    }
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
 * One run, in a new session: Ctrl-C in the terminal reaches only the supervisor, which stops its programs in order. If the supervisor ends, the
 * kernel kills the program, as it kills media tools whose worker ends (packages/media/src/sandbox).
 */
function start(
  { command, env, stopSignal = 'SIGTERM', stopWithinMs, sharesStdout = false }: Program,
  log: ProgramLog,
  say: (text: string) => void,
) {
  const child = execa('setpriv', ['--pdeathsig', 'KILL', '--', ...command], {
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
  // The workers of nginx outlive nginx, and keep its port and its output.
  child.nodeChildProcess.once('exit', () => killGroup(child.pid));
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

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function describeEnd({ exitCode, signal, originalMessage }: Result): string {
  if (signal) return `killed by ${signal}`;
  return exitCode === undefined ? `failed to start: ${originalMessage}` : `exited with status ${exitCode}`;
}

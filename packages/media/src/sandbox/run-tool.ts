import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { startInSandbox, type ToolFiles } from './sandbox.ts';
import { maxPrintedBytes, type ToolLimits } from './tool-limits.ts';
import { watchFolder } from './watch-folder.ts';

/** A tool is missing or was killed. The media is not known to be at fault. */
export class ToolFailed extends Error {
  override readonly name: string = 'ToolFailed';
  /** What the tool printed to stderr. */
  stderr = '';
}

/** A tool was killed, or is compromised and pretends so. The media may be at fault. */
export class ToolStopped extends ToolFailed {
  override readonly name = 'ToolStopped';
}

/**
 * How a tool ended. `broken` and `too_costly` are the fault of its input. `timed_out`: it passed its deadline, and the machine may be busy: only
 * CPU time shows what media costs.
 */
export type ToolEnd = 'done' | 'broken' | 'too_costly' | 'timed_out';

interface RunOptions extends ToolFiles {
  readonly signal: AbortSignal;
  /** Gets what the tool prints to stdout, as it comes; then `stdout` of the run is empty. */
  readonly onStdout?: ((text: string) => void) | undefined;
}

/** How a tool ended, and what it printed. */
interface ToolRun {
  readonly end: ToolEnd;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a tool that reads untrusted bytes in the sandbox. Kills its whole process group when it has ended, prints or writes
 * too much, passes its deadline, or `signal` aborts. No process of the group runs when this settles. The launcher enforces
 * bounds of its own too.
 * @throws ToolFailed, ToolStopped, or the reason of `signal`
 */
export async function runTool(
  tool: readonly [string, ...string[]],
  limits: ToolLimits,
  { signal, onStdout, ...files }: RunOptions,
): Promise<ToolRun> {
  const child = startInSandbox(tool, limits, files);
  let isTooMuch = false;
  const stopTooMuch = () => {
    isTooMuch = true;
    killGroup(child);
  };
  const { output } = files;
  using _watch = output && watchFolder(output.folder, output.maxBytes, stopTooMuch);
  const maxBytes = maxPrintedBytes[onStdout ? 'passedOn' : 'kept'];
  let printedBytes = 0;
  const read = (stream: Readable | null, take: (chunk: Buffer) => void) =>
    stream?.on('data', (chunk: Buffer) => {
      printedBytes += chunk.length;
      if (printedBytes > maxBytes) stopTooMuch();
      else take(chunk);
    });
  const collect = (stream: Readable | null) => {
    const chunks: Buffer[] = [];
    read(stream, (chunk) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString();
  };
  const stdout = onStdout ? () => '' : collect(child.stdout);
  if (onStdout) read(child.stdout, (chunk) => onStdout(chunk.toString()));
  const stderr = collect(child.stderr);
  try {
    const hasTimedOut = await runGroup(child, limits.seconds, signal);
    const end = isTooMuch ? 'too_costly' : hasTimedOut ? 'timed_out' : endOf(child);
    return { end, exitCode: child.exitCode, stdout: stdout(), stderr: stderr() };
  } catch (error) {
    if (error instanceof ToolFailed) error.stderr = stderr();
    throw error;
  }
}

// Waits until no process holds the output of `child`, not even one that it left behind in its group. Returns whether its deadline passed.
async function runGroup(child: ChildProcess, seconds: number, signal: AbortSignal): Promise<boolean> {
  // The launcher writes there, the tool cannot. A process without a free descriptor leaves `stdio` undefined (Node 24).
  let hasStarted = true;
  child.stdio?.[3]?.once('data', () => {
    hasStarted = false;
  });
  child.once('exit', () => killGroup(child));
  // `once` rejects with the first error; a later one must not end this process.
  child.on('error', () => {});
  const deadline = AbortSignal.timeout(Math.ceil(seconds * 1000));
  let hasTimedOut = false;
  try {
    await once(child, 'close', { signal: AbortSignal.any([signal, deadline]) });
  } catch (cause) {
    child.stdout?.destroy();
    child.stderr?.destroy();
    signal.throwIfAborted();
    hasTimedOut = deadline.aborted;
    if (!hasTimedOut) throw new ToolFailed('sandbox did not start', { cause });
  } finally {
    killGroup(child);
    await awaitGroupEnd(child.pid);
  }
  if (!hasStarted) throw new ToolFailed('sandbox did not start its tool');
  return hasTimedOut;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

const maxDyingMs = 5000;

// This waits for the end of the group, because SIGKILL takes effect with a delay.
async function awaitGroupEnd(group: number | undefined): Promise<void> {
  if (group === undefined) return;
  for (const end = performance.now() + maxDyingMs; await isGroupRunning(group); await sleep(5)) {
    if (performance.now() > end) throw new ToolFailed(`sandbox still runs ${maxDyingMs} ms after SIGKILL`);
  }
}

async function isGroupRunning(group: number): Promise<boolean> {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  // Zombies count as members until they are reaped, which a container without an init never does.
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')));
  return stats.some((stat) => {
    const [state = 'X', , members] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(members) === group && !'ZX'.includes(state);
  });
}

// These ends say nothing about the input: the tool was killed, or could not load its libraries.
const blameless: readonly unknown[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGALRM', 124, 125, 126, 127];

function endOf({ exitCode, signalCode }: ChildProcess): ToolEnd {
  // A shell reports the signal that ended its command as a status of 128 and more.
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === exitCode)?.[0];
  const ending = signalCode ?? signal ?? exitCode;
  if (ending === 0) return 'done';
  if (ending === 'SIGXCPU' || ending === 'SIGXFSZ') return 'too_costly';
  if (blameless.includes(ending)) throw new ToolStopped(`sandbox ended with ${ending}`);
  return 'broken';
}

/** Parses JSON from a tool, which may be compromised. Undefined if it does not match `shape`. */
export function parseToolJson<T>(json: string, shape: z.ZodType<T>): T | undefined {
  try {
    return shape.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { startInSandbox, type ToolFiles, type ToolLimits } from './sandbox.ts';
import { watchFolder } from './watch-folder.ts';

/** A tool is missing, was killed or passed its deadline. The media is not known to be at fault. */
export class ToolFailed extends Error {
  override readonly name: string = 'ToolFailed';
  /** What the tool printed there. */
  stderr = '';
}

/** A tool was killed or passed its deadline, or is compromised and pretends so. The media may be at fault. */
export class ToolStopped extends ToolFailed {
  override readonly name = 'ToolStopped';
}

/** How a tool ended. All but `done` are the fault of its input. */
type ToolEnd = 'done' | 'broken' | 'too_costly';

/** `timed_out`: it was stopped, and the machine may be at fault. */
export type TimedEnd = ToolEnd | 'timed_out';

interface RunOptions extends ToolFiles {
  readonly signal: AbortSignal;
  /** Gets what the tool prints to stdout, as it comes; then `stdout` of the run is empty. */
  readonly onStdout?: ((text: string) => void) | undefined;
  /** The folder that it writes to, and the limit for all files there. */
  readonly output?: { readonly folder: string; readonly maxBytes: number } | undefined;
}

/** How a tool ended, and what it printed. */
interface ToolRun {
  readonly end: ToolEnd;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

// Of stdout and stderr together.
const maxPrintedBytes = 256 * 1024;
const maxReportedBytes = 2 * 1024 * 1024;

/**
 * Runs a tool that reads untrusted bytes in the sandbox. Kills its whole process group when it has ended, prints or writes
 * too much, passes its deadline, or `signal` aborts. No process of the group runs when this settles. The launcher enforces
 * bounds of its own too.
 * @throws ToolFailed, ToolStopped, or the reason of `signal`
 */
export async function runTool(
  tool: readonly [string, ...string[]],
  limits: ToolLimits,
  { signal, output, onStdout, ...files }: RunOptions,
): Promise<ToolRun> {
  const child = startInSandbox(tool, limits, files);
  let isTooMuch = false;
  const stopTooMuch = () => {
    isTooMuch = true;
    killGroup(child);
  };
  using _watch = output && watchFolder(output.folder, output.maxBytes, stopTooMuch);
  const maxBytes = onStdout ? maxReportedBytes : maxPrintedBytes;
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
    await runGroup(child, limits.seconds * 1000, signal);
    const end = isTooMuch ? 'too_costly' : endOf(child);
    return { end, exitCode: child.exitCode, stdout: stdout(), stderr: stderr() };
  } catch (error) {
    if (error instanceof ToolFailed) error.stderr = stderr();
    throw error;
  }
}

// Waits until no process holds the output of `child`, not even one that it left behind in its group.
async function runGroup(child: ChildProcess, deadlineMs: number, signal: AbortSignal): Promise<void> {
  // The launcher writes there, the tool cannot. A process without a free descriptor leaves `stdio` undefined (Node 24).
  let hasStarted = true;
  child.stdio?.[3]?.once('data', () => {
    hasStarted = false;
  });
  child.once('exit', () => killGroup(child));
  // `once` rejects with the first error; a later one must not end this process.
  child.on('error', () => {});
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    await once(child, 'close', { signal: AbortSignal.any([signal, deadline]) });
  } catch (cause) {
    child.stdout?.destroy();
    child.stderr?.destroy();
    signal.throwIfAborted();
    if (deadline.aborted) throw new ToolStopped(`sandbox timed out after ${deadlineMs} ms`);
    throw new ToolFailed('sandbox did not start', { cause });
  } finally {
    killGroup(child);
    await awaitGroupEnd(child.pid);
  }
  if (!hasStarted) throw new ToolFailed('sandbox did not start its tool');
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

// SIGKILL takes effect with a delay.
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

// The input need not be at fault: the tool was killed, or could not load its libraries.
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

/** The caller's deadline passes before the tool's own, which cannot distinguish a slow video from a slow machine. */
export const headStartMs = 500;

/**
 * Runs a tool for at most `seconds` of wall-clock time. The result is `timed_out`, not `too_costly`, as the machine may be
 * busy: only CPU time limits show what media costs.
 * @throws what `run` throws, or the reason of `signal`
 */
export async function withDeadline<End extends TimedEnd | { readonly end: TimedEnd }>(
  seconds: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<End>,
): Promise<End | 'timed_out'> {
  const deadline = AbortSignal.timeout(seconds * 1000 - headStartMs);
  try {
    return await run(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (deadline.aborted && !signal.aborted) return 'timed_out';
    throw error;
  }
}

/** Parses JSON from a tool, which may be compromised. Undefined if it does not match `shape`. */
export function parseToolJson<T>(json: string, shape: z.ZodType<T>): T | undefined {
  try {
    return shape.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

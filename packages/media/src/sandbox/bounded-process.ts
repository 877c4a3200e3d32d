import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchFolder } from './watch-folder.ts';

/** A tool is missing, was killed or passed its deadline. The media is not known to be at fault. */
export class ToolFailed extends Error {
  override readonly name: string = 'ToolFailed';
  /** What the tool printed there, if runTool ran it. */
  stderr = '';
}

/** A tool was killed or passed its deadline, or is compromised and pretends so. The media may be at fault. */
export class ToolStopped extends ToolFailed {
  override readonly name = 'ToolStopped';
}

/** How a tool ended. All but `done` are the fault of its input. */
export type ToolEnd = 'done' | 'broken' | 'too_costly';

/** `timed_out`: it was stopped, and the machine may be at fault. */
export type TimedEnd = ToolEnd | 'timed_out';

export interface ProcessBounds {
  readonly deadlineMs: number;
  /** Of stdout and stderr together. */
  readonly maxPrintedBytes: number;
  readonly signal: AbortSignal;
  /** The folder that it writes to, and the limit for all files there. */
  readonly output?: { readonly folder: string; readonly maxBytes: number } | undefined;
}

/**
 * Waits for `child`, the leader of a process group. Kills the whole group when it has ended, prints or writes too much,
 * passes its deadline, or `signal` aborts. No process of the group runs when this settles. The launcher enforces bounds of
 * its own too.
 * @throws ToolFailed, ToolStopped, or the reason of `signal`
 */
export async function waitForTool(child: ChildProcess, bounds: ProcessBounds): Promise<ToolEnd> {
  let isTooMuch = false;
  let printed = 0;
  const stopTooMuch = () => {
    isTooMuch = true;
    killGroup(child);
  };
  const count = (chunk: Buffer) => {
    printed += chunk.length;
    if (printed > bounds.maxPrintedBytes) stopTooMuch();
  };
  using _watch = bounds.output && watchFolder(bounds.output.folder, bounds.output.maxBytes, stopTooMuch);
  child.stdout?.on('data', count);
  child.stderr?.on('data', count);
  // The launcher writes there, the tool cannot. A process without a free descriptor leaves `stdio` undefined (Node 24).
  let hasStarted = true;
  child.stdio?.[3]?.once('data', () => {
    hasStarted = false;
  });
  const deadline = AbortSignal.timeout(bounds.deadlineMs);
  try {
    await closed(child, AbortSignal.any([bounds.signal, deadline]));
  } catch (error) {
    bounds.signal.throwIfAborted();
    throw deadline.aborted
      ? new ToolStopped(`${basename(child.spawnfile)} timed out after ${bounds.deadlineMs} ms`)
      : error;
  } finally {
    killGroup(child);
    await groupEnded(child);
  }
  if (!hasStarted) throw new ToolFailed(`${basename(child.spawnfile)} did not start its tool`);
  return isTooMuch ? 'too_costly' : endOf(child);
}

// Waits until no process holds its output, not even one that it left behind in its group.
function closed(child: ChildProcess, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      reject(signal.reason);
    };
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    child.once('exit', () => killGroup(child));
    child.once('close', () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    child.once('error', (error) =>
      reject(new ToolFailed(`${basename(child.spawnfile)} did not start`, { cause: error })),
    );
  });
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
async function groupEnded({ pid, spawnfile }: ChildProcess): Promise<void> {
  if (pid === undefined) return;
  for (const end = Date.now() + maxDyingMs; await isGroupRunning(pid); await sleep(5)) {
    if (Date.now() > end) throw new ToolFailed(`${basename(spawnfile)} still runs ${maxDyingMs} ms after SIGKILL`);
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
const killedByOthers: readonly Ending[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGALRM'];
const notLoaded: readonly Ending[] = [124, 125, 126, 127];

type Ending = NodeJS.Signals | number | null;

function endOf(child: ChildProcess): ToolEnd {
  const ending = endingOf(child);
  if (ending === 0) return 'done';
  if (ending === 'SIGXCPU' || ending === 'SIGXFSZ') return 'too_costly';
  if (killedByOthers.includes(ending) || notLoaded.includes(ending)) {
    throw new ToolStopped(`${basename(child.spawnfile)} ended with ${ending}`);
  }
  return 'broken';
}

// A shell reports the signal that ended its command as a status of 128 and more.
function endingOf({ exitCode, signalCode }: ChildProcess): Ending {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === exitCode);
  return signalCode ?? (signal ? (signal[0] as NodeJS.Signals) : exitCode);
}

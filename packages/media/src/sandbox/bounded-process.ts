import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchFolder } from './watch-folder.ts';

/**
 * A tool of ours did not do its work, and the media is not known to be at fault: missing, killed, or not done by its
 * deadline.
 */
export class ToolFailed extends Error {
  override readonly name: string = 'ToolFailed';
}

/** It was killed or was not done by its deadline, or a compromised tool pretends so: this may be the fault of the media. */
export class ToolStopped extends ToolFailed {
  override readonly name = 'ToolStopped';
}

/** How a tool ended: well, or in a way that only its input explains. */
export type ToolEnd = 'done' | 'broken' | 'too_costly';

/** The same, or stopped: for that the machine may be the reason. */
export type TimedEnd = ToolEnd | 'timed_out';

export interface ProcessBounds {
  readonly deadlineMs: number;
  /** Of stdout and stderr together. */
  readonly mostOutputBytes: number;
  /** Aborted when nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** The folder that it writes to, and what all its files there may take. */
  readonly output?: { readonly folder: string; readonly maxBytes: number };
}

/**
 * Waits for `child`, which leads a process group of its own. When it has ended, prints or writes too much, passes its deadline, or
 * `signal` aborts, the whole group is killed. No process of the group runs any more when this settles. The launcher stands behind this with
 * bounds of its own.
 *
 * Rejects with ToolFailed (ToolStopped), or with the signal's reason.
 */
export async function boundedEnd(child: ChildProcess, bounds: ProcessBounds): Promise<ToolEnd> {
  let tooMuch = false;
  let printed = 0;
  const stopTooMuch = () => {
    tooMuch = true;
    killGroup(child);
  };
  const count = (chunk: Buffer) => {
    printed += chunk.length;
    if (printed > bounds.mostOutputBytes) stopTooMuch();
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
    await ended(child, AbortSignal.any([bounds.signal, deadline]));
  } catch (error) {
    bounds.signal.throwIfAborted();
    throw deadline.aborted
      ? new ToolStopped(`${basename(child.spawnfile)} was not done after ${bounds.deadlineMs} ms`)
      : error;
  } finally {
    killGroup(child);
    await groupEnded(child);
  }
  if (!hasStarted) throw new ToolFailed(`${basename(child.spawnfile)} did not start its tool`);
  return tooMuch ? 'too_costly' : endOf(child);
}

// Ended means that nobody holds its output any more: what it left behind in its group must not.
function ended(child: ChildProcess, signal: AbortSignal): Promise<void> {
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

const dyingMs = 5000;

// SIGKILL takes effect some time after it was sent.
async function groupEnded({ pid, spawnfile }: ChildProcess): Promise<void> {
  if (pid === undefined) return;
  for (const end = Date.now() + dyingMs; await groupRuns(pid); await sleep(5)) {
    if (Date.now() > end) throw new ToolFailed(`${basename(spawnfile)} still runs ${dyingMs} ms after SIGKILL`);
  }
}

async function groupRuns(group: number): Promise<boolean> {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  // Zombies count as members until somebody reaps them, which in a container without an init is nobody.
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')));
  return stats.some((stat) => {
    const [state = 'X', , members] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(members) === group && !'ZX'.includes(state);
  });
}

// What is not known to be the input's fault: somebody killed the tool, or it could not load its libraries.
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

// A shell tells the signal that ended what it ran by a status of 128 and more.
function endingOf({ exitCode, signalCode }: ChildProcess): Ending {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === exitCode);
  return signalCode ?? (signal ? (signal[0] as NodeJS.Signals) : exitCode);
}

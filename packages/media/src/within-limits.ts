import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { boundedEnd } from './bounded-process.ts';

/** What a tool may use up; beyond it, it is killed. */
export interface ToolLimits {
  readonly seconds: number;
  /** Of all its threads together. */
  readonly cpuSeconds: number;
  readonly addressBytes: number;
  /** Of each file that it writes. */
  readonly fileBytes: number;
}

/** Whether a tool sees the machine's network and processes, or none but its own. */
export type Namespaces = 'private' | 'shared';

const launcher = fileURLToPath(new URL('within-limits', import.meta.url));

// The launcher's own guard stands behind ours.
const margin = 2;

/** Starts a tool by the launcher; boundedEnd waits for it. */
export function startWithinLimits(
  [tool, ...args]: readonly [string, ...string[]],
  { seconds, cpuSeconds, addressBytes, fileBytes }: ToolLimits,
  namespaces: Namespaces,
): ChildProcess {
  const limits = [seconds + margin, cpuSeconds, addressBytes, fileBytes].map(String);
  return spawn(launcher, [namespaces, ...limits, tool, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

const trial: ToolLimits = { seconds: 10, cpuSeconds: 5, addressBytes: 1024 ** 3, fileBytes: 0 };

let found: Promise<Namespaces> | undefined;

/** What this machine allows: tried once in a process, for containers often forbid namespaces. */
export function toolNamespaces(): Promise<Namespaces> {
  found ??= triedNamespaces();
  return found;
}

async function triedNamespaces(): Promise<Namespaces> {
  const child = startWithinLimits(['true'], trial, 'private');
  const bounds = { deadlineMs: trial.seconds * 1000, mostOutputBytes: 4096, signal: new AbortController().signal };
  const end = await boundedEnd(child, bounds).catch(() => 'failed');
  return end === 'done' ? 'private' : 'shared';
}

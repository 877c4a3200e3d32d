import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { boundedEnd } from './bounded-process.ts';
import { collectOutput } from './tool-answer.ts';

/** `full`: Landlock and seccomp. `limits-only`: limits alone, for machines whose kernel lacks these. */
export const sandboxModes = ['full', 'limits-only'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** What a tool may use up; beyond it, it is killed. */
export interface ToolLimits {
  readonly seconds: number;
  /** Of all its threads together. */
  readonly cpuSeconds: number;
  readonly addressBytes: number;
  /** Memory that it writes to; unlimited unless set. */
  readonly dataBytes?: number;
  /** Of each file that it writes. */
  readonly fileBytes: number;
  /** Scheduling priority from 0 to 19, the highest number the lowest (nice); 0 unless set. */
  readonly niceness?: number | undefined;
}

/** Files that a tool may reach beside itself and the libraries of the system. */
export interface ToolFiles {
  /** Files and folders. */
  readonly reads?: readonly string[];
  /** Folders; a tool makes, reads and removes files there, and makes no links and folders. */
  readonly writes?: readonly string[];
}

const launcher = fileURLToPath(new URL('sandbox', import.meta.url));
const unlimited = 2n ** 64n - 1n;

// The launcher's own guard stands behind ours.
const margin = 2;

let mode: SandboxMode = 'full';

/** Sets the mode for all tools that this process starts from now on. */
export function setSandboxMode(to: SandboxMode): void {
  mode = to;
}

/** Starts a tool that reads untrusted bytes, as the leader of a process group; boundedEnd waits for it. */
export function startInSandbox(
  tool: readonly [string, ...string[]],
  { seconds, cpuSeconds, addressBytes, dataBytes, fileBytes, niceness = 0 }: ToolLimits,
  { reads = [], writes = [] }: ToolFiles,
): ChildProcess {
  const limits = [seconds + margin, cpuSeconds, addressBytes, dataBytes ?? unlimited, fileBytes, niceness].map(String);
  const files = [...reads.flatMap((path) => ['-r', path]), ...writes.flatMap((path) => ['-w', path])];
  const args = [mode, `${process.pid}`, ...limits, ...files, '--', ...tool];
  return spawn(launcher, args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true });
}

const trial: ToolLimits = { seconds: 10, cpuSeconds: 5, addressBytes: 16 * 1024 ** 3, fileBytes: 0 };
const mostOutputBytes = 64 * 1024;

const tools = [
  [process.execPath, '--version'],
  ['ffprobe', '-version'],
  ['ffmpeg', '-version'],
] as const;

/**
 * Why media tools cannot be started in the mode that is set, by trying; undefined if they can. A tool outside the system's folders may not find its
 * libraries in `full`. A tool that is missing is for others to report.
 */
export async function sandboxFault(): Promise<string | undefined> {
  const faults = await Promise.all(tools.map(faultOf));
  return faults.find((fault) => fault && !fault.endsWith('is not in PATH'));
}

async function faultOf(tool: readonly [string, ...string[]]): Promise<string | undefined> {
  const child = startInSandbox(tool, trial, {});
  const printed = collectOutput(child);
  const bounds = { deadlineMs: trial.seconds * 1000, mostOutputBytes, signal: new AbortController().signal };
  const end = await boundedEnd(child, bounds).catch((error: Error) => error.message);
  if (end === 'done') return undefined;
  const [line = ''] = printed().stderr.trim().split('\n', 1);
  return line || `${tool[0]}: ${end}`;
}

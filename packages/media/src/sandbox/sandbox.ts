import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ToolLimits } from './tool-limits.ts';

/** `full`: Landlock and seccomp. `limits-only`: resource limits alone, for kernels without these. */
export const sandboxModes = ['full', 'limits-only'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** Files that a tool may access besides its program and the system's libraries. */
export interface ToolFiles {
  /** Files and folders that the tool may read. */
  readonly reads?: readonly string[];
  /** A folder where the tool may create, read and remove files, but no links or folders; and the limit for all files there. */
  readonly output?: { readonly folder: string; readonly maxBytes: number } | undefined;
}

const launcher = fileURLToPath(new URL('landlock-and-seccomp.pl', import.meta.url));
const unlimited = 2n ** 64n - 1n;

// The launcher's own deadline passes later.
const marginSeconds = 2;

let mode: SandboxMode = 'full';

/** Sets the mode for all tools that this process starts. */
export function setSandboxMode(to: SandboxMode): void {
  mode = to;
}

/** Starts a tool that reads untrusted bytes as the leader of a process group; runTool waits for it. */
export function startInSandbox(
  tool: readonly [string, ...string[]],
  { seconds, cpuSeconds, addressBytes, dataBytes, fileBytes, niceness = 0 }: ToolLimits,
  { reads = [], output }: ToolFiles,
): ChildProcess {
  const limits = [seconds + marginSeconds, cpuSeconds, addressBytes, dataBytes ?? unlimited, fileBytes, niceness].map(
    String,
  );
  const files = [...reads.flatMap((path) => ['-r', path]), ...(output ? ['-w', output.folder] : [])];
  const args = [mode, `${process.pid}`, ...limits, ...files, '--', ...tool];
  return spawn(launcher, args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true });
}

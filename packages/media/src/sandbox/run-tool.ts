import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { type ProcessBounds, type ToolEnd, ToolFailed, waitForTool } from './bounded-process.ts';
import { startInSandbox, type ToolFiles, type ToolLimits } from './sandbox.ts';

const maxPrintedBytes = 256 * 1024;

interface RunOptions extends ToolFiles, Pick<ProcessBounds, 'signal' | 'output'> {}

/** How a tool ended, and what it printed. */
export interface ToolRun {
  readonly end: ToolEnd;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool that reads untrusted bytes in the sandbox. See waitForTool for the errors. */
export async function runTool(
  tool: readonly [string, ...string[]],
  limits: ToolLimits,
  { signal, output, ...files }: RunOptions,
): Promise<ToolRun> {
  const child = startInSandbox(tool, limits, files);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const bounds = { deadlineMs: limits.seconds * 1000, maxPrintedBytes, signal, output };
  const end = await waitForTool(child, bounds).catch((error: unknown) => {
    if (error instanceof ToolFailed) error.stderr = stderr();
    throw error;
  });
  return { end, exitCode: child.exitCode, stdout: stdout(), stderr: stderr() };
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

/** Parses JSON from a tool, which may be compromised. Undefined if it does not match `shape`. */
export function parseToolJson<T>(json: string, shape: z.ZodType<T>): T | undefined {
  try {
    return shape.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

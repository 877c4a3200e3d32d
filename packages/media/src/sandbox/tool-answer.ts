import type { ChildProcess } from 'node:child_process';
import type { z } from 'zod';

/** Collects what a tool prints; boundedEnd limits how much that is. */
export function collectOutput({ stdout, stderr }: ChildProcess): () => { stdout: string; stderr: string } {
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  return () => ({ stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
}

/** Parses the JSON that a tool printed, which may be compromised; undefined if it is not of this shape. */
export function parseAnswer<T>(json: string, shape: z.ZodType<T>): T | undefined {
  try {
    return shape.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

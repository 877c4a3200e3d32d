import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { samplesFolder } from './made-once.ts';

/** Vitest's global setup: a folder through which all test files share samples. */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-samples-'));
  process.env[samplesFolder] = folder.path;
  return () => folder[Symbol.asyncDispose]();
}

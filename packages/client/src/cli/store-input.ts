import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** A copy of standard input in a folder that only this user can read. */
export interface StoredInput {
  readonly path: string;
  remove(): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Copies standard input to a file, so that its upload can be named by its content and retried. A signal that ends the process removes it. */
export async function storeInput(stdin: NodeJS.ReadableStream): Promise<StoredInput> {
  const folder = mkdtempSync(join(tmpdir(), 'echodrop-'));
  const path = join(folder, 'media');
  const remove = () => {
    for (const signal of signals) process.off(signal, end);
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true });
  };
  const end = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.once(signal, end);
  process.once('exit', remove);
  try {
    await pipeline(stdin, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    remove();
    throw error;
  }
  return { path, remove };
}

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
  let folder: string | undefined;
  const remove = () => {
    for (const signal of signals) process.off(signal, end);
    process.off('exit', remove);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  const end = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  // First: a signal may come as soon as the folder exists.
  for (const signal of signals) process.once(signal, end);
  process.once('exit', remove);
  try {
    folder = mkdtempSync(join(tmpdir(), 'echodrop-'));
    const path = join(folder, 'media');
    await pipeline(stdin, createWriteStream(path, { mode: 0o600 }));
    return { path, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** A copy of standard input in a folder that only this user can read. */
export interface StoredInput {
  readonly path: string;
  remove(): void;
}

/** Copies standard input to a file, so that its upload can be named by its content and retried. A signal that ends the process removes it. */
export async function storeInput(stdin: NodeJS.ReadableStream): Promise<StoredInput> {
  let folder: string | undefined;
  const remove = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    process.off('exit', remove);
    for (const signal of signals) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  // Signals are handled first: one may come as soon as the folder exists.
  process.once('exit', remove);
  for (const signal of signals) process.once(signal, end);
  try {
    folder = mkdtempSync(join(tmpdir(), 'echodrop-'));
    const path = join(folder, 'media');
    await pipeline(stdin, createWriteStream(path, { mode: 0o600 }));
    return { path, remove };
  } catch (cause) {
    remove();
    throw new Error(`Cannot copy standard input to ${tmpdir()}.`, { cause });
  }
}

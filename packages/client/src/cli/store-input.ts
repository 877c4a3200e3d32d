import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** A copy of standard input in a folder that only this user can read. */
export interface StoredInput {
  readonly path: string;
  remove(): Promise<void>;
}

/** Copies standard input to a file, so that its upload can be named by its content and retried. */
export async function storeInput(stdin: NodeJS.ReadableStream): Promise<StoredInput> {
  const folder = await mkdtemp(join(tmpdir(), 'echodrop-'));
  const path = join(folder, 'media');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(stdin, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove };
}

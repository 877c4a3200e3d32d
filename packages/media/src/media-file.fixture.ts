import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Media as a file, in a folder of its own. Disposing removes both. */
export interface MediaFile extends AsyncDisposable {
  readonly path: string;
  readonly folder: string;
}

/** Writes media to a file. */
export async function mediaFile(bytes: Buffer): Promise<MediaFile> {
  const folder = await mkdtempDisposable(join(tmpdir(), 'media-'));
  const path = join(folder.path, 'media');
  await writeFile(path, bytes);
  return { path, folder: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

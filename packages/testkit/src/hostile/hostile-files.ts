import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Canary, HostileMedia } from './hostile-sample.ts';

/** Writes media into a folder, each a file of its own that has no name. */
export async function writeHostile(folder: string, media: readonly HostileMedia[], canary: Canary): Promise<void> {
  for (const [n, { make, zeros = 0 }] of media.entries()) {
    await using file = await open(join(folder, String(n)), 'w');
    const bytes = await make(canary);
    await file.write(bytes);
    await file.truncate(bytes.length + zeros);
  }
}

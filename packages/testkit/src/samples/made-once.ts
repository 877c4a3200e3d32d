import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The variable that names the folder for what was made; without it nothing is shared. */
export const samplesFolder = 'TEST_SAMPLES_FOLDER';

/** What `make` makes of `words`, always the same: made once, for all processes that know the folder. */
export async function madeOnce(words: readonly string[], make: () => Promise<Buffer>): Promise<Buffer> {
  const folder = process.env[samplesFolder];
  if (folder === undefined) return make();
  const path = join(folder, createHash('sha256').update(JSON.stringify(words)).digest('hex'));
  return readFile(path).catch(async () => {
    const bytes = await make();
    // Whole, or not there.
    const whole = `${path}-${randomUUID()}`;
    await writeFile(whole, bytes);
    await rename(whole, path);
    return bytes;
  });
}

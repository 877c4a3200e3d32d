import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The variable with the folder of shared samples; without it, nothing is shared. */
export const samplesFolder = 'TEST_SAMPLES_FOLDER';
/** The variable with the folder of what one test run builds. */
export const runFolder = 'TEST_RUN_FOLDER';

/** The output of `make`, which depends only on `words`. Made once for all processes that share the folder. */
export async function madeOnce(words: readonly string[], make: () => Promise<Buffer>): Promise<Buffer> {
  const folder = process.env[samplesFolder];
  if (folder === undefined) return make();
  const path = join(folder, createHash('sha256').update(JSON.stringify(words)).digest('hex'));
  return readFile(path).catch(async () => {
    const bytes = await make();
    // Renaming is atomic.
    const whole = `${path}-${randomUUID()}`;
    await writeFile(whole, bytes);
    await rename(whole, path);
    return bytes;
  });
}

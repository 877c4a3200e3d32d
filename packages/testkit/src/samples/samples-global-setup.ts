import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { testCache } from '../test-cache.ts';
import { runFolder, samplesFolder } from './made-once.ts';

/** Vitest's global setup: a folder for all temporary files of a run, and one for samples, which later runs of any clone with the same ffmpeg use again. */
export async function setup(): Promise<() => Promise<void>> {
  const { stdout = '' } = await execa('ffmpeg', ['-version'], { reject: false });
  // Making all samples takes a tenth of the processor time of a run.
  const samples = join(testCache('samples'), createHash('sha256').update(stdout).digest('hex').slice(0, 16));
  await mkdir(samples, { recursive: true });
  process.env[samplesFolder] = samples;
  const parent = tmpdir();
  await removeDeadRuns(parent);
  const folder = await mkdtemp(join(parent, `echodrop-run-${process.pid}-`));
  process.env[runFolder] = folder;
  process.env['TMPDIR'] = folder;
  // Servers that end with their test process may still write.
  return () => rm(folder, { recursive: true, maxRetries: 10 });
}

// A run changes its folder all the time. Its process may be invisible, if containers share the parent folder.
const quietMs = 10 * 60_000;

/** Removes the folders of runs that were killed. */
async function removeDeadRuns(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = /^echodrop-run-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const path = join(parent, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    // Another user may own it.
    if (Date.now() - mtimeMs > quietMs) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { testCache } from '../test-cache.ts';
import { runFolder, samplesFolder } from './made-once.ts';

/** Vitest's global setup: a folder for what one run builds, and one for samples, which later runs of any clone with the same ffmpeg use again. */
export async function setup(): Promise<() => Promise<void>> {
  const { stdout = '' } = await execa('ffmpeg', ['-version'], { reject: false });
  // Making all samples takes a tenth of the processor time of a run.
  const samples = join(testCache('samples'), createHash('sha256').update(stdout).digest('hex').slice(0, 16));
  await mkdir(samples, { recursive: true });
  process.env[samplesFolder] = samples;
  const folder = await mkdtemp(join(tmpdir(), 'echodrop-run-'));
  process.env[runFolder] = folder;
  // Servers that end with their test process may still write.
  return () => rm(folder, { recursive: true, maxRetries: 10 });
}

import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { processesStarted } from '@echodrop/testkit/processes-started';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import sharp from 'sharp';
import { afterEach, expect, test } from 'vitest';
import { type MediaFile, mediaFile } from '../media-file.fixture.ts';
import { patientBudget } from '../rendered.fixture.ts';
import { pictureRecipes, picturesOf } from '../rendition-recipes.ts';
import { ToolFailed, ToolStopped } from '../sandbox/run-tool.ts';
import { setSandboxMode } from '../sandbox/sandbox.ts';
import { completeLine, type PictureJob, startLine } from './picture-job.ts';
import { makePictures } from './picture-process.ts';

const { execPath } = process;
afterEach(() => {
  process.execPath = execPath;
  setSandboxMode('full');
});

function jobOf({ path, folder }: MediaFile): PictureJob {
  const pictures = picturesOf('jpg').map((recipe) => ({
    recipe,
    path: join(folder, `${recipe.name}.${recipe.extension}`),
  }));
  return { source: { path, type: 'jpg' }, pictures, maxPixels: 1_000_000 };
}

const make = (job: PictureJob) => makePictures(job, patientBudget, patientSignal());
const grey = { channels: 3, background: '#808080' } as const;
const photo = () => samplePhoto('jpg', { width: 320, height: 240 });

test('makes all pictures of a photo in one separate process', async () => {
  await using file = await mediaFile(await photo());
  const job = jobOf(file);
  const started = await processesStarted(() => make(job));
  expect(started.map((path) => path.split('/').at(-1))).toEqual(['landlock-and-seccomp.pl']);
});

test('reports a full disk as a breakdown, not as broken media', async () => {
  await using file = await mediaFile(await photo());
  const job = jobOf(file);
  for (const { path } of job.pictures) await symlink('/dev/full', path);
  await expect(make(job)).rejects.toThrow(ToolFailed);
});

test('reports missing media as a breakdown, not as broken media', async () => {
  await using file = await mediaFile(await photo());
  const job = jobOf(file);
  await rm(job.source.path);
  await expect(make(job)).rejects.toThrow(ToolFailed);
  setSandboxMode('limits-only');
  await expect(make(job)).rejects.toThrow(ToolFailed);
});

test('makes the other pictures if one fails', async () => {
  const wide = sharp({ create: { width: 20_000, height: 2, ...grey } });
  await using file = await mediaFile(await wide.jpeg().toBuffer());
  const job = jobOf(file);
  // Exceeds the maximum width of a WebP.
  const tooWide = { ...pictureRecipes.largeWebp, name: 'wide', size: { longest: 20_000 } };
  const impossible = { recipe: tooWide, path: join(file.folder, 'wide.webp') };
  const pictures = [impossible, ...job.pictures];
  const rendered = { outcome: 'unsupported', why: 'broken' };
  expect(await make({ ...job, pictures })).toEqual({ rendered, made: job.pictures });
  const made = job.pictures.map(({ recipe }) => `${recipe.name}.${recipe.extension}`);
  expect((await readdir(file.folder)).sort()).toEqual(['media', ...made].sort());
});

test('reports no picture as made if the process runs out of memory', async () => {
  await using file = await mediaFile(await samplePhoto('jpg', { width: 6000, height: 4000 }));
  const job = jobOf(file);
  const program = join(import.meta.dirname, 'picture-program.ts');
  const large = JSON.stringify({ ...job, maxPixels: 100_000_000 });
  const limited = ['--data=700000000', process.execPath, '--disable-wasm-trap-handler', program, large];
  const { stdout, exitCode } = await execa('prlimit', limited, { reject: false, timeout: patienceMs });
  expect(stdout.split('\n')[0]).toBe(startLine);
  expect(exitCode === 0 ? stdout : 'crashed').not.toContain('"made"');
});

test.each([
  ['none', ''],
  ['invalid JSON', 'made'],
  ['an unknown outcome', '{"outcome":"stored"}'],
  ['an unknown reason', '{"outcome":"unsupported","why":"tired"}'],
  ['an array', '[]'],
])('%s instead of a result: the media is broken', async (_, output) => {
  await using file = await mediaFile(await photo());
  const job = jobOf(file);
  await using node = await hostileFfprobe(`printf '%s\\n' ${startLine} '${output}'`, 'node');
  process.execPath = join(node.folder, 'node');
  setSandboxMode('limits-only');
  expect(await make(job)).toEqual({ rendered: { outcome: 'unsupported', why: 'broken' }, made: [] });
});

test('keeps the pictures that a process had completed when it crashed', async () => {
  await using file = await mediaFile(await photo());
  const job = jobOf(file);
  const made = job.pictures.slice(0, 2);
  const lines = [startLine, ...made.map(({ path }) => completeLine(path))].map((line) => `'${line}'`);
  await using node = await hostileFfprobe(`printf '%s\\n' ${lines.join(' ')}; kill -SEGV $$`, 'node');
  process.execPath = join(node.folder, 'node');
  setSandboxMode('limits-only');
  expect(await make(job)).toEqual({ rendered: { outcome: 'unsupported', why: 'broken' }, made });
});

test('reports a process that claims a failure without reason as stopped', async () => {
  await using file = await mediaFile(await photo());
  const job = jobOf(file);
  await using node = await hostileFfprobe(`printf '%s\\n' ${startLine} '{"outcome":"failed","message":""}'`, 'node');
  process.execPath = join(node.folder, 'node');
  setSandboxMode('limits-only');
  await expect(make(job)).rejects.toThrow(ToolStopped);
});

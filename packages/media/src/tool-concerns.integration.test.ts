import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { holesOf } from './known-holes.ts';
import type { MediaType } from './media-type.ts';
import { setSandboxMode } from './sandbox/sandbox.ts';
import { toolConcerns } from './tool-concerns.ts';
import { toolVersions } from './tool-versions.ts';

// A shell script is a tool only where it may start other programs.
setSandboxMode('limits-only');

const parts = new AsyncDisposableStack();
let folder: string;

beforeEach(async () => {
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'tool-concerns-'))).path;
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => parts.disposeAsync());

async function programIs(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

/** Both tools say that they are `version`. */
async function versionsAre(version: string): Promise<void> {
  for (const tool of ['ffprobe', 'ffmpeg']) {
    await programIs(tool, `echo "${tool} version ${version} Copyright (c) 2007-2026 the FFmpeg developers"`);
  }
}

async function allConcerns(...typesOff: readonly MediaType[]) {
  return toolConcerns(await toolVersions(), new Set(typesOff));
}

/** Those of ffprobe and ffmpeg. */
async function concerns() {
  const all = await allConcerns();
  return all.filter(({ tools = [] }) => tools.includes('ffprobe') || tools.includes('ffmpeg'));
}

test('tools with a known hole are named, with the hole and what stands before it', async () => {
  await versionsAre('5.1.9-0+deb12u1');
  const found = await concerns();
  expect(found).toMatchObject([
    { level: 'info', tools: ['ffprobe', 'ffmpeg'], version: '5.1.9-0+deb12u1', hole: 'CVE-2026-8461' },
  ]);
  expect(found[0]?.sentence).toContain('ffprobe and ffmpeg 5.1.9-0+deb12u1');
  expect(found[0]?.sentence).toContain('not on the list of codecs');
});

test('tools without a known hole are not spoken of', async () => {
  await versionsAre('8.1.2');
  expect(await concerns()).toEqual([]);
});

test('a tool that is missing, or tells no version, is named', async () => {
  await programIs('ffprobe', 'exit 127');
  await programIs('ffmpeg', 'echo ffmpeg version N-120424-g1ab2c3d');
  expect(await concerns()).toMatchObject([
    { level: 'warn', sentence: 'ffprobe cannot be run: what needs it will fail' },
    { level: 'warn', sentence: 'ffmpeg N-120424-g1ab2c3d: no number to be compared with the known holes' },
  ]);
});

test('the sharp that we run has no known hole', () => {
  expect(holesOf('sharp', sharp.versions.sharp)).toEqual([]);
});

test('the libheif that we run is named as long as it is older than what mends its holes', async () => {
  await versionsAre('8.1.2');
  const found = (await allConcerns()).filter(({ tools = [] }) => tools.includes('libheif-js'));
  const { version } = createRequire(import.meta.url)('libheif-js/package.json') as { version: string };
  const holes = holesOf('libheif-js', version);
  expect(found).toMatchObject(holes.map(({ id }) => ({ level: 'info', version, hole: id })));
  for (const { sentence } of found) expect(sentence).toContain('MEDIA_TYPES_OFF=heic');
});

test('types that are turned off are named in one sentence', async () => {
  await versionsAre('8.1.2');
  const said = (concerns: readonly { sentence: string }[]) =>
    concerns.map(({ sentence }) => sentence).filter((sentence) => sentence.startsWith('MEDIA_TYPES_OFF'));
  expect(said(await allConcerns('avif', 'heic'))).toEqual(['MEDIA_TYPES_OFF turns off avif, heic']);
  expect(said(await allConcerns())).toEqual([]);
});

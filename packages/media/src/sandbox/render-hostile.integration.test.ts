import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hostileMedia } from '@echodrop/testkit/hostile/hostile-media';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { expect, test } from 'vitest';
import { markedVideo } from '../render-video/marked-videos.fixture.ts';
import type { RenderReport } from './render-files.fixture.ts';
import { expectOutOfReach, filesOpened, filesOpenedBy, hasStrace, prepareRun } from './traced-run.fixture.ts';

test('hostile media makes no rendition that needs another file, and makes no tool open one, or a socket', async () => {
  await using run = await prepareRun();
  const { media, scratch, canary } = run;
  const names = [canary.file, canary.address].flatMap((name) => [Buffer.from(name), Buffer.from(name, 'utf16le')]);
  let luring = 0;
  // Others do not take the names.
  for (const { make } of hostileMedia.filter((each) => each.make.length > 0)) {
    const bytes = await make(canary);
    if (names.some((name) => bytes.includes(name))) await writeFile(join(media, `luring-${luring++}`), bytes);
  }
  expect(luring).toBeGreaterThan(20);
  for (const [n, make] of honestMedia.entries()) await writeFile(join(media, `honest-${n}`), await make());

  const { printed, calls } = await run.trace('render-files.fixture.ts');

  const report = Object.entries(JSON.parse(printed) as RenderReport);
  const outcomes = (isWanted: (name: string, type: unknown) => boolean) => [
    ...new Set(report.filter(([name, { type }]) => isWanted(name, type)).flatMap(([, each]) => each.outcomes)),
  ];
  expect(outcomes((name) => name.startsWith('honest-'))).toEqual(['made']);
  expect(outcomes((_, type) => type === undefined)).toEqual(['unsupported']);
  expect(outcomes(() => true).sort()).toEqual(['made', 'unsupported']);
  expect(await canary.touched()).toEqual([]);
  if (!hasStrace) return;
  expectOutOfReach(canary, calls);
  const byFfmpeg = filesOpenedBy('ffmpeg', calls);
  expect(byFfmpeg.length).toBeGreaterThan(20);
  expect(byFfmpeg.filter((path) => !isWithin(path, [media, scratch]))).toEqual([]);
  expect(calls.filter((call) => call.includes('picture-program.js')).length).toBeGreaterThan(10);
  const own = [media, scratch, run.program, projectDir, dirname(process.execPath)];
  expect(filesOpened(calls).filter((path) => !isWithin(path, own))).toEqual([]);
});

const projectDir = join(import.meta.dirname, '../../../..');

const small = { width: 64, height: 48 };
const honestMedia: readonly (() => Promise<Buffer>)[] = [
  ...(['jpg', 'avif', 'bmp'] as const).map((type) => () => samplePhoto(type, small)),
  () => heif({ coding: 'hevc', brands: ['heic', 'mif1'], ...small, orientation: 1 }),
  () => sampleVideo('webm', { ...small, seconds: 0.3 }),
  ...(['mp4', 'mkv'] as const).map((type) => () => markedVideo(type)),
];

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

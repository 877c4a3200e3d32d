import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pictureRecipes, type Recipe } from '@echodrop/media/rendition-recipes';
import { setSandboxMode } from '@echodrop/media/sandbox/sandbox';
import { renditionKey } from '@echodrop/object-store/object-keys';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { afterEach, expect, test } from 'vitest';
import { createRenditionEvents } from './events.ts';
import { testWorker } from './test-worker.fixture.ts';

// A shell script starts programs and creates files, which the full sandbox forbids.
setSandboxMode('limits-only');

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

const broken = { outcome: 'unsupported', why: 'broken' };

/** Renders a video with existing renditions `present`, and with `script` instead of ffmpeg, which should write `$out`. */
async function renderWith(script: string, present: readonly Recipe[]) {
  await using worker = await testWorker();
  const mediaKey = await worker.upload(await sampleVideo('mp4', { width: 320, height: 240 }));
  for (const recipe of present) await worker.store.put(renditionKey(mediaKey, recipe), Readable.from(['before']));

  await using ffmpeg = await hostileFfprobe(`for out; do :; done\nout=\${out#file:}\n${script}`, 'ffmpeg');
  await writeFile(join(ffmpeg.folder, 'still.png'), await samplePhoto('png', { width: 320, height: 240 }));
  process.env.PATH = ffmpeg.path;

  const metrics = new Metrics('rendition-worker');
  const events = createRenditionEvents(createLog('test', 'silent'), metrics);
  const reply = await worker.render({ mediaKey, type: 'mp4', set: 'film' }, { events });
  const notes = /\.(broken|too_costly)-tools$/;
  const stored = (await worker.keysOf(mediaKey)).filter(
    (key) => !notes.test(key) && !present.some((recipe) => key === renditionKey(mediaKey, recipe)),
  );
  const { text } = await metrics.exposition();
  const [, refused] = text.match(/^echodrop_tool_output_refused_total\{.*fault="(\w+)".*\} 1$/m) ?? [];
  const notShown = [...text.matchAll(/^echodrop_media_not_shown_total\{.*missing="(\w+)".*\} 1$/gm)].map(
    ([, what]) => what,
  );
  return { reply, stored, refused, notShown };
}

const pictures = Object.values(pictureRecipes);
// tool-output.integration.test.ts shows every other fault of a file.
test.each([
  ['a symbolic link to its environment', 'ln -s /proc/self/environ "$out"', 'link'],
  ['a FIFO', 'mkfifo "$out"', 'not_a_file'],
] as const)('an ffmpeg that leaves %s: broken, nothing is stored', async (_, script, fault) => {
  const refused = { reply: broken, stored: [], refused: fault };
  expect(await renderWith(script, pictures), 'instead of a video').toEqual({ ...refused, notShown: ['video'] });
  expect(await renderWith(script, []), 'instead of a still').toEqual({ ...refused, notShown: ['picture', 'video'] });
});

test('a tool cannot create a sparse file of 1 TiB', async () => {
  const { reply, stored } = await renderWith('exec truncate -s 1T "$out"', pictures);
  expect({ reply, stored }).toEqual({ reply: { outcome: 'unsupported', why: 'too_costly' }, stored: [] });
});

test('refuses a link that ffmpeg left instead of a picture, and stores no other picture', async () => {
  const script = 'cp "$folder/still.png" "$out"\nln -s "$folder/elsewhere" "$(dirname "$out")/large.jpg"';
  const notShown = ['picture', 'video'];
  expect(await renderWith(script, [])).toEqual({ reply: broken, stored: [], refused: 'link', notShown });
});

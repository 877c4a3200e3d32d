import { mkdtempDisposable, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { patientSignal } from '@echodrop/testkit/patience';
import { detectMediaType, isPhoto, type MediaType } from '../detect-media-type.ts';
import type { Rendered } from '../outcomes.ts';
import { renderPictures } from '../render-picture/render-pictures.ts';
import { renderVideo } from '../render-video/render-video.ts';
import { pictureOptions, videoOptions } from '../rendered.fixture.ts';
import { picturesOf } from '../rendition-recipes.ts';
import { isVideo, readVideo } from '../video-layout/read-video.ts';

/** The type of each file, if it looks like media, and how its pictures, then its video ended. */
export type RenderReport = Record<
  string,
  { readonly type: MediaType | undefined; readonly outcomes: readonly string[] }
>;

// Makes all renditions of every file of a folder, one after another, as a process of its own: render-files.fixture.ts <folder> <scratch folder>.
// A file of unknown type is rendered as a video, as if detection had failed. Prints a RenderReport.
const [, , folder = '', scratchDir = ''] = process.argv;

const report: RenderReport = {};
for (const name of await readdir(folder)) {
  const path = join(folder, name);
  const found = await typeOf(path);
  const type = found ?? 'ts';
  await using made = await mkdtempDisposable(join(scratchDir, 'made-'));
  const renderings: Promise<Rendered>[] = [];
  const media = isPhoto(type) ? { path, type } : await readVideo(path, type, patientSignal());
  if (typeof media === 'string') {
    report[name] = { type: found, outcomes: ['unsupported'] };
    continue;
  }
  if (found) {
    const wanted = picturesOf(type).map((recipe, n) => ({ recipe, path: join(made.path, String(n)) }));
    renderings.push(renderPictures(media, wanted, pictureOptions(scratchDir)).then(({ rendered }) => rendered));
  }
  if (isVideo(media)) renderings.push(renderVideo(media, join(made.path, 'video'), videoOptions()));
  const results = await Promise.allSettled(renderings);
  const outcomes = results.map((each) => (each.status === 'fulfilled' ? each.value.outcome : 'gave up'));
  report[name] = { type: found, outcomes };
}
process.stdout.write(JSON.stringify(report));

async function typeOf(path: string) {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16 * 1024), 0, 16 * 1024, 0);
  return detectMediaType(buffer.subarray(0, bytesRead));
}

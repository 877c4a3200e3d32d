/**
 * What making all pictures of a photo of 24 million pixels costs, in turns: from one decoding or from one for each
 * picture; and what two such jobs at once cost with one thread each and with two.
 *
 *     node packages/bench/src/pictures.ts
 */
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { samplePhoto } from '@echodrop/testkit/sample-media';
import { drawPictures } from '../../media/src/draw-pictures.ts';
import { guardedSharp } from '../../media/src/guarded-sharp.ts';
import { picturesOf } from '../../media/src/recipes.ts';

const rounds = 3;
await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-pictures-'));
const path = join(folder.path, 'photo.png');
await writeFile(path, await samplePhoto('png', { width: 6000, height: 4000, options: ['-vf', 'noise=alls=20'] }));
const source = { path, type: 'png' as const };
const pictures = picturesOf('jpg').map((recipe, n) => ({ recipe, path: join(folder.path, `${n}`) }));
const job = { source, pictures, maxPixels: 100_000_000 };

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}

const once = () => drawPictures(job);
const oneByOne = async () => {
  for (const picture of pictures) await drawPictures({ ...job, pictures: [picture] });
};
const twoJobs = (threads: number) => () => {
  guardedSharp().concurrency(threads);
  return Promise.all([once(), once()]);
};

const ways = { once, oneByOne, 'two jobs, one thread each': twoJobs(1), 'two jobs, two threads each': twoJobs(2) };
const times: Record<string, number[]> = {};
for (let round = 0; round < rounds; round++) {
  for (const [name, way] of Object.entries(ways)) {
    guardedSharp().concurrency(1);
    times[name] = [...(times[name] ?? []), await seconds(way)];
  }
}
for (const [name, all] of Object.entries(times)) {
  const middle = all.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  process.stdout.write(`${name}: ${middle.toFixed(2)} s\n`);
}

/**
 * What the renditions of a photo and of a video cost the rendition-worker, with all that it starts and with MinIO as the store, beside
 * plain peers: sharp in one warm process, and ffmpeg.
 *
 *     MINIO_BIN=... node packages/bench/src/pictures.ts [the worker's main module]
 */
import { createReadStream } from 'node:fs';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RenditionClient } from '@echodrop/contracts/rendition';
import { guardedSharp } from '@echodrop/media/guarded-sharp';
import type { MediaType } from '@echodrop/media/media-type';
import { type RenditionSet, recipesOf } from '@echodrop/media/recipes';
import { mediaObject, newMediaKey, renditionObject } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { objectStoreFromSettings, storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { readSettings } from '@echodrop/service/env';
import { createLog } from '@echodrop/service/log';
import { Secret } from '@echodrop/service/secret';
import { freePort } from '@echodrop/testkit/free-ports';
import { sampleFilm } from '@echodrop/testkit/sample-media';
import { ServerProcess } from '@echodrop/testkit/server-process';
import { startMinio } from '@echodrop/testkit/start-minio';
import { startRedis } from '@echodrop/testkit/start-redis';
import { plainPictures, plainVideo } from './plain-renditions.ts';

const photoNames = ['200 KB', '3 MB', '12 megapixels'] as const;
const videoName = '10 s of 1080p' as const;

/** Milliseconds of processor time for all renditions of one medium that are made when it is published: a figure for each round. */
export interface RenditionCost {
  readonly media: (typeof photoNames)[number] | typeof videoName;
  readonly worker: readonly number[];
  readonly plain: readonly number[];
}

interface Measuring {
  readonly rounds?: number;
  /** Of each photo in a round; of the video a fifth of them. */
  readonly photos?: number;
  /** Which media; all of it unless said. */
  readonly only?: readonly RenditionCost['media'][];
  /** The module that is started as the worker. */
  readonly main?: string;
}

const sources = resolve(import.meta.dirname, '../../../services/rendition-worker/src/main.ts');

/** Measures worker and peers in turns. @throws where a rendition is missing afterwards */
export async function measureRenditions({
  rounds = 5,
  photos = 10,
  only = [...photoNames, videoName],
  main = sources,
}: Measuring = {}): Promise<RenditionCost[]> {
  await using parts = new AsyncDisposableStack();
  const { path: folder } = parts.use(await mkdtempDisposable(join(tmpdir(), 'bench-renditions-')));
  const worker = parts.use(await Worker.start(main, folder));
  const costs: RenditionCost[] = [];
  for (const { media, type, path } of await samples(folder)) {
    if (!only.includes(media)) continue;
    const [count, sets] =
      type === 'jpg' ? [photos, ['pictures'] as const] : [photos / 5, ['pictures', 'film'] as const];
    const plain = type === 'jpg' ? () => plainPictures(path) : () => plainVideo(path, folder);
    const found = { worker: [] as number[], plain: [] as number[] };
    await worker.render(path, type, sets, 2);
    await plain();
    for (let round = 0; round < rounds; round += 1) {
      found.worker.push((await worker.render(path, type, sets, count)) / count);
      found.plain.push((await cpuMsDuring(process.pid, () => times(count, plain))) / count);
    }
    costs.push({ media, ...found });
  }
  return costs;
}

/** A rendition-worker with a Redis and a MinIO of its own. */
class Worker implements AsyncDisposable {
  readonly #parts: AsyncDisposableStack;
  readonly #pid: number;
  readonly #client: RenditionClient;
  readonly #store: ObjectStore;

  private constructor(parts: AsyncDisposableStack, pid: number, client: RenditionClient, store: ObjectStore) {
    this.#parts = parts;
    this.#pid = pid;
    this.#client = client;
    this.#store = store;
  }

  static async start(main: string, folder: string): Promise<Worker> {
    await using parts = new AsyncDisposableStack();
    const redis = parts.use(await startRedis());
    const minio = parts.use(await startMinio());
    const opsPort = await freePort();
    const env = { ...minio.settings, REDIS_URL: redis.url, SCRATCH_DIR: folder, OPS_PORT: String(opsPort) };
    const command = [process.execPath, main] as const;
    const answers = () =>
      fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const { pid = 0 } = parts.use(await ServerProcess.start({ command, env: { ...env, LOG_LEVEL: 'warn' }, answers }));
    const client = parts.use(new RenditionClient({ url: new Secret(redis.url), log: createLog('bench', 'silent') }));
    const store = parts.use(await objectStoreFromSettings(readSettings(storeSettings, minio.settings)));
    return new Worker(parts.move(), pid, client, store);
  }

  /** Publishes media `count` times and has it rendered; gives the worker's processor time for all of it. */
  async render(path: string, type: MediaType, sets: readonly RenditionSet[], count: number): Promise<number> {
    const keys = Array.from({ length: count }, newMediaKey);
    for (const key of keys) await this.#store.put(mediaObject(key), createReadStream(path));
    const waiting = { waitMs: 600_000, signal: AbortSignal.timeout(600_000) };
    const all = keys.flatMap((mediaKey) => sets.map((set) => ({ mediaKey, type, set })));
    const spent = await cpuMsDuring(this.#pid, () => Promise.all(all.map((each) => this.#client.make(each, waiting))));
    for (const { mediaKey, set } of all) {
      for (const recipe of recipesOf(set, type)) {
        if (!(await this.#store.stat(renditionObject(mediaKey, recipe)))) throw new Error(`no ${recipe.name} was made`);
      }
    }
    return spent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

type Picture = ReturnType<ReturnType<typeof guardedSharp>>;

interface Sample {
  readonly media: RenditionCost['media'];
  readonly type: 'jpg' | 'mp4';
  readonly path: string;
}

// A real photo of 1600 x 1067, as it is and laid out beside its mirror images.
async function samples(folder: string): Promise<Sample[]> {
  const photo = resolve(import.meta.dirname, 'photo.jpg');
  const coded = async (media: Sample['media'], quality: number, sized: Picture) => {
    const path = join(folder, `${media}.jpg`);
    await sized.jpeg({ quality }).toFile(path);
    return { media, type: 'jpg', path } as const;
  };
  const mirrored = (right: number, bottom: number) =>
    guardedSharp()(photo).extend({ right, bottom, extendWith: 'mirror' });
  const video = join(folder, 'video.mp4');
  const options = ['-preset', 'veryfast', '-b:v', '8M'];
  await writeFile(video, await sampleFilm('mp4', { width: 1920, height: 1080, seconds: 10, options }));
  return [
    { media: '200 KB', type: 'jpg', path: photo },
    await coded('3 MB', 97, mirrored(1400, 1183)),
    await coded('12 megapixels', 85, mirrored(2400, 1933)),
    { media: videoName, type: 'mp4', path: video },
  ];
}

async function times(count: number, work: () => Promise<void>): Promise<void> {
  for (let n = 0; n < count; n += 1) await work();
}

const msPerTick = 10;

/** Processor time of a process and of all that it has started and waited for, in milliseconds, while `work` goes on. */
async function cpuMsDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = await cpuMs(pid);
  await work();
  return (await cpuMs(pid)) - before;
}

// proc_pid_stat(5): the fields after the program's name begin with the third; 14 to 17 are of its own and of its children.
async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * msPerTick;
}

if (import.meta.main) {
  const main = process.argv[2];
  for (const { media, worker, plain } of await measureRenditions(main === undefined ? {} : { main: resolve(main) })) {
    const ratios = worker.map((ms, n) => ms / (plain[n] ?? 0));
    const [ours, theirs, ratio] = [worker, plain, ratios].map(middle);
    const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    process.stdout.write(
      `${media}: ${ours?.toFixed(0)} ms, plain ${theirs?.toFixed(0)} ms, ratio ${ratio?.toFixed(2)} (${spread})\n`,
    );
  }
}

function middle(all: readonly number[]): number {
  return all.toSorted((one, other) => one - other)[all.length >> 1] ?? 0;
}

import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RenditionAnswer, RenditionQuestion } from '@echodrop/contracts/rendition';
import type { MediaType } from '@echodrop/media/media-type';
import { type Recipe, recipesOf } from '@echodrop/media/recipes';
import { mediaObject, renditionObject } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { RenditionEvents } from './events.ts';
import { makeRenditions, type RenditionToMake } from './make-renditions.ts';

interface Rendering {
  readonly store: ObjectStore;
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  /** Their bytes are not even fetched. */
  readonly typesOff: ReadonlySet<MediaType>;
  readonly events: RenditionEvents;
}

/**
 * The straight line: makes what is missing of a set of renditions, and puts it into the store. Media of which one cannot be made is an answer; the others are stored all the same.
 * @throws what keeps us from rendering: StoreUnavailable, missing media, no room on the disk, a tool that is missing or killed, or the signal's reason
 */
export async function render(
  question: RenditionQuestion,
  signal: AbortSignal,
  { store, scratchDir, maxPixels, typesOff, events }: Rendering,
): Promise<RenditionAnswer> {
  const { mediaKey, type, set } = question;
  const recipes = recipesOf(set, type);
  if (recipes.length === 0) return { outcome: 'unsupported', why: 'no_picture' };
  const missing = await missingOf(recipes, mediaKey, store);
  if (missing.length === 0) return { outcome: 'made' };
  if (typesOff.has(type)) {
    const off = { outcome: 'unsupported', why: 'type_off' } as const;
    events.rendered(question, off);
    return off;
  }

  await using scratch = await mkdtempDisposable(join(scratchDir, 'job-'));
  const media = { path: join(scratch.path, 'media'), type };
  const renditions = missing.map((recipe) => ({ recipe, path: join(scratch.path, fileNameOf(recipe)) }));

  await fetchMedia(store, mediaKey, media.path, signal);
  const options = { scratchDir: scratch.path, maxPixels, signal };
  const { rendered, made } = await makeRenditions(set, media, renditions, options);
  await storeAll(made, mediaKey, store, signal);
  await withdrawFromRemoved(made, mediaKey, store);
  events.rendered(question, rendered);
  return rendered;
}

async function missingOf(recipes: readonly Recipe[], mediaKey: string, store: ObjectStore): Promise<Recipe[]> {
  const found = await Promise.all(recipes.map((recipe) => store.stat(renditionObject(mediaKey, recipe))));
  return recipes.filter((_, n) => found[n] === undefined);
}

function fileNameOf({ name, extension }: Recipe): string {
  return `${name}.${extension}`;
}

async function fetchMedia(store: ObjectStore, mediaKey: string, path: string, signal: AbortSignal): Promise<void> {
  const reading = await store.read(mediaObject(mediaKey), { signal });
  if (reading === undefined) throw new Error('the media is not in the store');
  await pipeline(reading.body, createWriteStream(path), { signal });
}

async function storeAll(
  renditions: readonly RenditionToMake[],
  mediaKey: string,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<void> {
  for (const { recipe, path } of renditions) {
    const { contentType } = recipe;
    await store.put(renditionObject(mediaKey, recipe), createReadStream(path), { signal, contentType });
  }
}

// Where the media was taken down meanwhile, what was stored is too late for its removal, which has passed.
async function withdrawFromRemoved(
  renditions: readonly RenditionToMake[],
  mediaKey: string,
  store: ObjectStore,
): Promise<void> {
  if (await store.stat(mediaObject(mediaKey))) return;
  await Promise.all(renditions.map(({ recipe }) => store.remove(renditionObject(mediaKey, recipe))));
  throw new Error('the media was removed from the store meanwhile');
}

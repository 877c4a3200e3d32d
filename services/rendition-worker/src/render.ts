import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RenditionAnswer, RenditionQuestion } from '@echodrop/contracts/rendition';
import { recipeNamed } from '@echodrop/media/recipes';
import { mediaObject, renditionObject } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { RenditionEvents } from './events.ts';
import { followRecipe } from './follow-recipe.ts';

interface Rendering {
  readonly store: ObjectStore;
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  readonly events: RenditionEvents;
}

/**
 * The straight line: makes a rendition and puts it into the store, unless it lies there already. Media of which it cannot be made is an answer.
 * @throws what keeps us from rendering: StoreUnavailable, missing media, no room on the disk, a tool that is missing or hangs, or the signal's reason
 */
export async function render(
  question: RenditionQuestion,
  signal: AbortSignal,
  { store, scratchDir, maxPixels, events }: Rendering,
): Promise<RenditionAnswer> {
  const recipe = recipeNamed(question.recipe);
  if (!recipe) throw new Error('no recipe has that name');
  const rendition = renditionObject(question.mediaKey, recipe);
  if (await store.stat(rendition)) return { outcome: 'made' };

  await using scratch = await mkdtempDisposable(join(scratchDir, 'rendition-'));
  const media = { path: join(scratch.path, 'media'), type: question.type };
  const result = join(scratch.path, `made.${recipe.extension}`);

  await fetchMedia(store, question.mediaKey, media.path, signal);
  const rendered = await followRecipe(recipe, media, result, { scratchDir: scratch.path, maxPixels, signal });
  if (rendered.outcome === 'made') {
    await store.put(rendition, createReadStream(result), { signal, contentType: recipe.contentType });
  }
  events.rendered(question, rendered);
  return { outcome: rendered.outcome };
}

async function fetchMedia(store: ObjectStore, mediaKey: string, path: string, signal: AbortSignal): Promise<void> {
  const reading = await store.read(mediaObject(mediaKey), { signal });
  if (reading === undefined) throw new Error('the media is not in the store');
  await pipeline(reading.body, createWriteStream(path), { signal });
}

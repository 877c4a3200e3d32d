import { createWriteStream } from 'node:fs';
import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RenditionAnswer, RenditionQuestion } from '@echodrop/contracts/rendition';
import { filmTracks } from '@echodrop/media/ffprobe';
import { isPhoto, type MediaType } from '@echodrop/media/media-type';
import { type Recipe, recipesOf, setOf } from '@echodrop/media/recipes';
import type { Rendered } from '@echodrop/media/render-pictures';
import { OutputRefused, openToolOutput, type ToolOutput } from '@echodrop/media/tool-output';
import { removeBelow } from '@echodrop/object-store/every-object';
import { mediaObject, renditionObject, renditionsOf } from '@echodrop/object-store/object-keys';
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

/** The media is not in the store: it was taken down before the job was done. Where it was lost, the site's alarm tells (`media_missing`). */
export class MediaRemoved extends Error {
  override readonly name = 'MediaRemoved';
}

/**
 * The straight line: makes what is missing of a set of renditions, and puts it into the store. Media of which one cannot be made is an answer; the others are stored all the same.
 * If a tool leaves something else than renditions, the media is `broken`, and nothing of that set is stored.
 * @throws MediaRemoved, or what keeps us from rendering: StoreUnavailable, no room on the disk, a tool that is missing or killed, or the signal's reason
 */
export async function render(
  question: RenditionQuestion,
  signal: AbortSignal,
  rendering: Rendering,
): Promise<RenditionAnswer> {
  const { mediaKey, type, set } = question;
  const recipes = recipesOf(set, type);
  if (recipes.length === 0) return { outcome: 'unsupported', why: 'no_picture' };
  const missing = await missingOf(recipes, mediaKey, rendering.store);
  if (missing.length === 0) {
    await withdrawFromRemoved(mediaKey, rendering.store);
    return { outcome: 'made' };
  }
  if (rendering.typesOff.has(type)) {
    await withdrawFromRemoved(mediaKey, rendering.store);
    const off = { outcome: 'unsupported', why: 'type_off' } as const;
    rendering.events.rendered(question, off);
    return off;
  }
  return await makeMissing(missing, question, signal, rendering)
    .catch((error: unknown) => {
      if (!(error instanceof OutputRefused)) throw error;
      const broken = { outcome: 'unsupported', why: 'broken' } as const;
      rendering.events.outputRefused(question, error);
      rendering.events.rendered(question, broken);
      return broken;
    })
    .finally(() => withdrawFromRemoved(mediaKey, rendering.store));
}

async function makeMissing(
  missing: readonly Recipe[],
  question: RenditionQuestion,
  signal: AbortSignal,
  { store, scratchDir, maxPixels, events }: Rendering,
): Promise<Rendered> {
  const { mediaKey, type } = question;
  await using scratch = await mkdtempDisposable(join(scratchDir, 'job-'));
  const path = join(scratch.path, 'media');
  // Tools write here, and nowhere else.
  const out = join(scratch.path, 'out');
  await mkdir(out);
  const renditions = missing.map((recipe) => ({ recipe, path: join(out, fileNameOf(recipe)) }));

  await fetchMedia(store, mediaKey, path, signal);
  const media = isPhoto(type) ? { path, type } : { path, type, tracks: await filmTracks(path, type, signal) };
  const options = { scratchDir: out, maxPixels, signal };
  let answer: Rendered = { outcome: 'made' };
  let failure: { readonly error: unknown } | undefined;
  // The pictures of a film come first: the film may take minutes.
  for (const [set, wanted] of Map.groupBy(renditions, ({ recipe }) => setOf(recipe))) {
    try {
      const { rendered, made } = await makeRenditions(set, media, wanted, options);
      await storeAll(made, mediaKey, store, signal);
      events.rendered({ ...question, set }, rendered);
      if (set === question.set) answer = rendered;
      else await withdrawFromRemoved(mediaKey, store);
    } catch (error) {
      if (signal.aborted || error instanceof MediaRemoved || error instanceof OutputRefused) throw error;
      // A failure of the pictures fails the job, but does not cost it the film.
      failure = { error };
    }
  }
  if (failure) throw failure.error;
  return answer;
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
  await using files = new AsyncDisposableStack();
  const checked: (readonly [Recipe, ToolOutput])[] = [];
  for (const { recipe, path } of renditions) {
    checked.push([recipe, files.use(await openToolOutput(path, recipe.extension))]);
  }
  for (const [recipe, output] of checked) {
    const { contentType } = recipe;
    await store.put(renditionObject(mediaKey, recipe), output.stream(), { signal, contentType });
  }
}

// What is stored once the media was taken down is too late for its removal, which has passed. So a job looks at its end, however it ends, and
// takes what earlier tries of it have left too.
async function withdrawFromRemoved(mediaKey: string, store: ObjectStore): Promise<void> {
  if (await store.stat(mediaObject(mediaKey))) return;
  await removeBelow(store, renditionsOf(mediaKey));
  throw new MediaRemoved('the media was removed from the store');
}

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { patientSignal } from '@echodrop/testkit/patience';
import { laneLimits } from './lane-limits.ts';
import { render } from './render.ts';

type RenderDeps = Parameters<typeof render>[2];

/** A worker without a queue, with a store and a scratch folder of its own. It reports nothing. */
export interface TestWorker extends AsyncDisposable {
  readonly store: FilesystemObjectStore;
  readonly deps: RenderDeps;
  /** Renders with the limits of the slow lane, unless `others` say otherwise. */
  readonly render: (
    request: RenditionRequest,
    others?: Partial<RenderDeps>,
    signal?: AbortSignal,
  ) => Promise<RenditionReply>;
  /** Stores media. Returns its key. */
  readonly upload: (bytes: Buffer) => Promise<string>;
  /** The keys of its renditions and notes in the store. */
  readonly keysOf: (mediaKey: string) => Promise<string[]>;
}

export async function testWorker(): Promise<TestWorker> {
  await using parts = new AsyncDisposableStack();
  const newFolder = async () => parts.use(await mkdtempDisposable(join(tmpdir(), 'rendition-worker-'))).path;
  const store = parts.use(new FilesystemObjectStore(await newFolder()));
  const events = { rendered() {}, notShown() {}, outputRefused() {} };
  const { video, still, pictures } = laneLimits.slow;
  // At the priority of the slow lane, a busy machine takes a minute.
  const budgets = {
    video: { ...video, niceness: 0 },
    still: { ...still, niceness: 0 },
    pictures: { ...pictures, niceness: 0 },
  };
  const limits = { ...laneLimits.slow, ...budgets };
  const others = { maxPixels: 1_000_000, typesOff: new Set<never>(), tools: 'tools', events };
  const deps: RenderDeps = { store, scratchDir: await newFolder(), limits, ...others };
  const owned = parts.move();
  return {
    store,
    deps,
    render: (request, others, signal = patientSignal()) => render(request, signal, { ...deps, ...others }),
    async upload(bytes) {
      const mediaKey = newMediaKey();
      await store.put(mediaObjectKey(mediaKey), Readable.from([bytes]));
      return mediaKey;
    },
    async keysOf(mediaKey) {
      return (await store.list(renditionsPrefixOf(mediaKey), { limit: 100 })).map(({ key }) => key);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

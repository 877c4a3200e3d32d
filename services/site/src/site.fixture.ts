import { join } from 'node:path';
import { publishSample as publish } from '@echodrop/archive/publish-sample.fixture';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';

/** Starts the site and a rendition-worker on a new store, all disposed with `resources`. */
export async function startSite(resources: AsyncDisposableStack, settings: Record<string, string> = {}) {
  const stack = resources.use(await startStack({ services: ['site', 'rendition-worker'], settings }));
  const store = resources.use(new FilesystemObjectStore(join(stack.folder, 'store')));
  return { stack, store };
}

/** Waits until renditions are ready, in whose place a busy machine may get 503 at first. */
export async function shown({ site }: Pick<Stack, 'site'>, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await waitUntil(path, async () => (await fetch(`${site}${path}`)).ok);
}

/** Publishes `bytes` like an upload. @returns the media id */
export async function publishSample(
  store: ObjectStore,
  bytes: Buffer,
  record: Partial<StoredRecord> = {},
): Promise<string> {
  return (await publish(store, record, bytes)).id;
}

import { join } from 'node:path';
import { publishSample as publish } from '@echodrop/archive/publish-sample.fixture';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';
import { startStack } from '@echodrop/testkit/start-stack';

/** Starts the site and a rendition-worker on a new store, all disposed with `resources`. */
export async function startSite(resources: AsyncDisposableStack, settings: Record<string, string> = {}) {
  const stack = resources.use(await startStack({ services: ['site', 'rendition-worker'], settings }));
  const store = resources.use(new FilesystemObjectStore(join(stack.folder, 'store')));
  return { stack, store };
}

/** Publishes `bytes` like an upload. @returns the media id */
export async function publishSample(
  store: ObjectStore,
  bytes: Buffer,
  record: Partial<StoredRecord> = {},
): Promise<string> {
  return (await publish(store, record, bytes)).id;
}

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishSample as publish } from '@echodrop/archive/publish-sample.fixture';
import { findRecord } from '@echodrop/archive/records';
import { removeMedia } from '@echodrop/archive/remove-media';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord } from '@echodrop/record';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';

/** Starts the site and a rendition-worker on a new store, all disposed with `resources`. */
export async function startSite(resources: AsyncDisposableStack, settings: Record<string, string> = {}) {
  const stack = resources.use(await startStack({ services: ['site', 'rendition-worker'], settings }));
  const store = resources.use(new FilesystemObjectStore(join(stack.folder, 'store')));
  return { stack, store };
}

/** A new store in a folder, disposed with `resources`. */
export async function newStore(resources: AsyncDisposableStack): Promise<FilesystemObjectStore> {
  const { path } = resources.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
  return resources.use(new FilesystemObjectStore(path));
}

/** Waits until renditions are ready, in whose place a busy machine may get 503 at first. */
export async function shown({ site }: Pick<Stack, 'site'>, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await waitUntil(path, async () => (await fetch(`${site}${path}`)).ok);
}

/** Removes an upload like its owner. */
export async function removeUpload(store: ObjectStore, id: string): Promise<void> {
  const record = await findRecord(store, id);
  if (record && !isTombstone(record)) await removeMedia(store, record, { by: 'owner', at: new Date() });
}

/** Publishes `bytes` like an upload. @returns the media id */
export async function publishSample(
  store: ObjectStore,
  bytes: Buffer,
  record: Partial<StoredRecord> = {},
): Promise<string> {
  return (await publish(store, record, bytes)).id;
}

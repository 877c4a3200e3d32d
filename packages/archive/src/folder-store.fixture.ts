import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { afterEach, beforeEach } from 'vitest';

/** Gives each test a new folder with an empty store in it, or in a folder below. */
export function useFolderStore(below = ''): { readonly folder: string; readonly store: FilesystemObjectStore } {
  const opened = {} as { folder: string; store: FilesystemObjectStore };
  let resources: AsyncDisposableStack;
  beforeEach(async () => {
    resources = new AsyncDisposableStack();
    opened.folder = resources.use(await mkdtempDisposable(join(tmpdir(), 'store-test-'))).path;
    opened.store = resources.use(new FilesystemObjectStore(join(opened.folder, below)));
    await opened.store.ready();
  });
  afterEach(() => resources.disposeAsync());
  return opened;
}

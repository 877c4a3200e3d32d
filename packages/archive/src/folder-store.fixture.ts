import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { afterEach, beforeEach } from 'vitest';

/** Gives each test a new folder with an empty store. */
export function useFolderStore(): { readonly folder: string; readonly store: FilesystemObjectStore };
export function useFolderStore<Store extends FilesystemObjectStore>(
  open: (folder: string) => Store,
): { readonly folder: string; readonly store: Store };
export function useFolderStore(open = (folder: string) => new FilesystemObjectStore(folder)) {
  const opened = {} as { folder: string; store: FilesystemObjectStore };
  let resources: AsyncDisposableStack;
  beforeEach(async () => {
    resources = new AsyncDisposableStack();
    opened.folder = resources.use(await mkdtempDisposable(join(tmpdir(), 'store-test-'))).path;
    opened.store = resources.use(open(opened.folder));
    await opened.store.ready();
  });
  afterEach(() => resources.disposeAsync());
  return opened;
}

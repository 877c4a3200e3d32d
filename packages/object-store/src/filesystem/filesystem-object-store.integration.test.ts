import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { objectStoreContract } from '../contract/object-store.contract.ts';
import { StoreUnavailable } from '../object-store.ts';
import { failingAfter } from '../sources.fixture.ts';
import { TemporaryFile } from './durable-file.ts';
import { FilesystemObjectStore } from './filesystem-object-store.ts';

async function openDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'echodrop-store-'));
  return {
    directory,
    store: new FilesystemObjectStore(directory),
    other: new FilesystemObjectStore(directory),
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}

describe('the filesystem store', () => {
  objectStoreContract(openDirectory);

  test('a write fails if the disk kept fewer bytes', async () => {
    await using opened = await openDirectory();
    const sync = vi.spyOn(TemporaryFile.prototype, 'sync').mockResolvedValue({ size: 4n, mtimeNs: 0n });
    using _restored = { [Symbol.dispose]: () => sync.mockRestore() };
    await expect(opened.store.put('media/short', Readable.from([Buffer.from('bytes')]))).rejects.toThrow(
      '4 of 5 bytes',
    );
  });

  test('leaves no temporary file behind after successful and failed writes', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    await store.put('media/good', Readable.from([Buffer.from('bytes')]));
    await store.putIfAbsent('records/a.json', Buffer.from('{}'));
    await store.putIfAbsent('records/a.json', Buffer.from('{}'));
    await expect(store.put('media/bad', failingAfter(200_000, new Error('gone')))).rejects.toThrow('gone');
    expect(await readdir(join(directory, 'tmp'))).toEqual([]);
    expect((await readdir(join(directory, 'objects'), { recursive: true })).sort()).toEqual([
      'media',
      'media/good',
      'records',
      'records/a.json',
    ]);
  });

  test('throws StoreUnavailable if the directory cannot be created or written', async () => {
    const source = Readable.from([Buffer.from('bytes')]);
    const store = new FilesystemObjectStore('/dev/null/store');
    await expect(store.ready()).rejects.toThrow(StoreUnavailable);
    await expect(store.put('media/a', source)).rejects.toThrow(StoreUnavailable);
    expect(source.destroyed).toBe(true);
    await expect(store.putIfAbsent('records/a.json', Buffer.from('{}'))).rejects.toThrow(StoreUnavailable);
  });
});

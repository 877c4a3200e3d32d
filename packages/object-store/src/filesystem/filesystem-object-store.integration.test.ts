import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { objectStoreContract } from '../contract/object-store.contract.ts';
import { StoreUnavailable } from '../object-store.ts';
import { failingAfter } from '../sources.fixture.ts';
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

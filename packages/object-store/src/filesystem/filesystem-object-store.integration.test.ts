import {
  mkdir,
  mkdtemp,
  mkdtempDisposable,
  open,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { describe, expect, test, vi } from 'vitest';
import { objectStoreContract } from '../contract/object-store.contract.ts';
import { StagedWriteLost, StoreUnavailable } from '../object-store.ts';
import { failingAfter } from '../sources.fixture.ts';
import { newStagedWrite, type StagedWrite } from '../staged-write.ts';
import { DirectoryWalks } from './directory-walks.ts';
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

const device = async (path: string) => (await stat(path).catch(() => undefined))?.dev;
const devices = await Promise.all(
  [tmpdir(), '/dev/shm', '/tmp', import.meta.dirname].map(async (path) => ({ path, dev: await device(path) })),
);
/** A folder on another disk than the one for temporary files. */
const otherDisk = devices.find(({ dev }) => dev !== undefined && dev !== devices[0]?.dev)?.path;

describe('the filesystem store', () => {
  objectStoreContract(openDirectory);

  test('a write fails if the disk kept fewer bytes', async () => {
    await using opened = await openDirectory();
    await opened.store.ready();
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

  test('files have the time of their write, also after the machine was suspended, and each write another one', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    const now = performance.now.bind(performance);
    // The clock of performance.now stands still meanwhile.
    const suspended = vi.spyOn(performance, 'now').mockImplementation(() => now() - 48 * 3_600_000);
    using _restored = { [Symbol.dispose]: () => suspended.mockRestore() };
    let write = newStagedWrite('media/staged', '');
    const save = async (next: StagedWrite) => {
      write = next;
    };
    const begin = (await store.clock()).getTime();
    await store.append(write, Readable.from([Buffer.from('bytes')]), { newTailKey: () => '', save });
    const unfinished = await Array.fromAsync(store.listUnfinishedWrites());
    await store.completeWrite(write);
    await store.put('media/whole', Readable.from([Buffer.from('bytes')]));
    await store.putIfAbsent('media/record', Buffer.from('{}'));
    await store.putIfAbsent('media/entry', Buffer.alloc(0));
    const times = [...unfinished, ...(await store.list('media/', { limit: 9 }))].map(({ writtenAt }) => +writtenAt);
    expect(times).toHaveLength(5);
    const end = (await store.clock()).getTime();
    for (const time of times) expect([time >= begin - 1, time <= end + 1]).toEqual([true, true]);
    const tags = new Set<string>();
    for (let n = 0; n < 100; n += 1) tags.add((await store.put('media/same', Readable.from([Buffer.from('x')]))).etag);
    expect([tags.size, await readdir(join(directory, 'tmp'))]).toEqual([100, []]);
  });

  test('a file that cannot be examined is closed', async () => {
    await using opened = await openDirectory();
    await opened.store.put('media/a', Readable.from([Buffer.from('bytes')]));
    const path = join(opened.directory, 'objects/media/a');
    await using sample = await open(path);
    const stat = vi.spyOn(Object.getPrototypeOf(sample), 'stat').mockRejectedValue(new Error('EIO'));
    using _restored = { [Symbol.dispose]: () => stat.mockRestore() };
    await expect(opened.store.read('media/a')).rejects.toThrow(StoreUnavailable);
    const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
    expect((await Promise.all(links)).filter((target) => target === path)).toHaveLength(1);
  });

  test('a walk visits a large directory in order', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    const names = Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? `${n}/in/deep` : `${n}`));
    for (const name of names) await store.putIfAbsent(`media/${name}`, Buffer.alloc(0));
    const inOrder = names.map((name) => `media/${name}`).sort();
    for (const maxNames of [1, 2, 7, 30, 99, 100, 1000]) {
      const walks = new DirectoryWalks(join(directory, 'objects'), maxNames);
      const walk = (after: string, folders = false) =>
        Array.fromAsync(walks.resume({ prefix: 'media/', after, folders }));
      expect(await walk('')).toEqual(inOrder);
      expect(await walk(inOrder[40] ?? '')).toEqual(inOrder.slice(41));
      expect(await walk('media/42/in')).toEqual(inOrder.slice(inOrder.indexOf('media/42/in/deep')));
      const shallow = names.map((name) => `media/${name.replace('in/deep', '')}`).sort();
      expect(await walk('', true)).toEqual(shallow);
      expect(await walk('media/42/', true)).toEqual(shallow.slice(shallow.indexOf('media/42/') + 1));
    }
  });

  test('links, pipes and folders are no objects, and do not stop a reader', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    const path = (name: string) => join(directory, 'objects/media', name);
    await store.put('media/file', Readable.from([Buffer.from('bytes')]));
    await symlink('/etc/hostname', path('link'));
    await symlink('.', path('loop'));
    await execa('mkfifo', [path('pipe')]);
    await mkdir(path('folder'));
    for (const name of ['link', 'loop', 'pipe', 'folder']) {
      expect([await store.read(`media/${name}`), await store.stat(`media/${name}`)]).toEqual([undefined, undefined]);
    }
    expect((await store.list('media/', { limit: 9 })).map(({ key }) => key)).toEqual(['media/file']);
    await store.remove('media/folder');
  });

  test('a removal also removes the folders that it leaves empty', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    const folders = async () => (await readdir(join(directory, 'objects'), { recursive: true })).sort();
    const days = 'by-user/a/days/82410';
    for (const key of [`${days}/1`, `${days}/2`, 'by-user/a/days/82411/1', 'media/a', 'renditions/a/large-1.jpg'])
      await store.putIfAbsent(key, Buffer.alloc(0));
    await store.remove('renditions/a/large-1.jpg');
    await store.remove(`${days}/1`);
    expect(await folders()).toEqual(expect.arrayContaining([`${days}/2`, 'by-user/a/days/82411/1', 'renditions']));
    await store.remove(`${days}/2`);
    expect(await folders()).not.toContain(days);
    await store.remove('by-user/a/days/82411/1');
    await store.remove('media/a');
    await store.remove('media/a');
    expect(await folders()).toEqual(['by-user', 'media', 'renditions']);
    // Of an interrupted removal.
    await mkdir(join(directory, 'objects', days), { recursive: true });
    await store.remove(`${days}/2`);
    expect(await folders()).toEqual(['by-user', 'media', 'renditions']);
  });

  test('writes and removals in one folder do not disturb each other', async () => {
    await using opened = await openDirectory();
    const { store, other } = opened;
    const writeAndRemove = async (_: unknown, n: number) => {
      const key = `by-user/a/days/82410/${n}`;
      for (let round = 0; round < 60; round += 1) {
        if (round % 2) await store.put(key, Readable.from([Buffer.alloc(1)]));
        else expect(await other.putIfAbsent(key, Buffer.alloc(0))).toBe('created');
        await (round % 3 ? store : other).remove(key);
      }
    };
    await Promise.all(Array.from({ length: 4 }, writeAndRemove));
    expect(await store.listKeys('by-user/', { limit: 9 })).toEqual([]);
  });

  test('an object with any name can be removed, and nothing else', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    await mkdir(join(directory, 'objects/media'), { recursive: true });
    const names = ['\u001b[31m', 'a b', '...', '.hidden', 'ü'];
    for (const name of names) await writeFile(join(directory, 'objects/media', name), '');
    await writeFile(join(directory, 'outside'), '');
    for (const { key } of await store.list('media/', { limit: 9 })) await store.remove(key);
    expect(await store.list('media/', { limit: 9 })).toEqual([]);
    for (const key of ['../outside', 'media/../../outside', `${directory}/outside`, ''])
      await store.remove(key).catch((error) => expect(error).toBeInstanceOf(TypeError));
    expect(await readdir(directory)).toContain('outside');
  });

  test('a staged write whose file is shorter than its state says is lost, and makes no larger file', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    let write = newStagedWrite('media/a', '');
    const save = async (next: StagedWrite) => {
      write = next;
    };
    const options = { newTailKey: () => '', save };
    await store.append(write, Readable.from([Buffer.from('bytes')]), options);
    for (const size of [6, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      await expect(store.completeWrite({ ...write, size })).rejects.toThrow(StagedWriteLost);
      const more = Readable.from([Buffer.from('more')]);
      await expect(store.append({ ...write, size }, more, options)).rejects.toThrow(StagedWriteLost);
    }
    expect((await stat(join(directory, 'tmp', write.id ?? ''))).size).toBe(5);
    for (const id of ['../objects/media/b', '..', '.', 'a/b']) {
      await expect(store.completeWrite({ ...write, id })).rejects.toThrow(StagedWriteLost);
      await store.discardWrite({ ...write, id });
    }
    expect(await store.completeWrite(write)).toMatchObject({ size: 5 });
  });

  test('ready tries the folders of objects and leaves nothing', async () => {
    await using opened = await openDirectory();
    const { store, other, directory } = opened;
    await store.put('media/a', Readable.from([Buffer.from('bytes')]));
    await mkdir(join(directory, 'objects/@eaDir'), { mode: 0 });
    await Promise.all([store.ready(), other.ready()]);
    const files = await readdir(directory, { recursive: true });
    expect(files.sort()).toEqual(['objects', 'objects/@eaDir', 'objects/media', 'objects/media/a', 'store-id', 'tmp']);
  });

  describe('with a folder on another disk', unlessMissing({ 'another disk': otherDisk !== undefined }), () => {
    test.each(['objects', 'objects/media', 'objects/records', 'objects/by-user', 'tmp'])(
      'is not ready if it is %s, and names both folders',
      async (name) => {
        await using opened = await openDirectory();
        await using disk = await mkdtempDisposable(join(otherDisk ?? '', 'echodrop-disk-'));
        const { store, directory } = opened;
        await mkdir(join(directory, name, '..'), { recursive: true });
        await symlink(disk.path, join(directory, name));
        const from = join(directory, 'tmp');
        const to = join(directory, name === 'tmp' ? 'objects' : name);
        const message = `files cannot move from ${from} to ${to}: these folders are on different disks, mounts or subvolumes; keep all of ${directory} on one`;
        await expect(store.ready()).rejects.toThrow(message);
        await expect(store.ready()).rejects.toThrow(StoreUnavailable);
        expect(await readdir(disk.path)).toEqual([]);
        await rm(join(directory, name));
        await store.ready();
      },
    );

    test('writes that meet it say the same', async () => {
      await using opened = await openDirectory();
      await using disk = await mkdtempDisposable(join(otherDisk ?? '', 'echodrop-disk-'));
      const { store, directory } = opened;
      await store.ready();
      for (const name of ['media', 'records']) await symlink(disk.path, join(directory, 'objects', name));
      const media = Readable.from([Buffer.from('bytes')]);
      await expect(store.put('media/a', media)).rejects.toThrow(`to ${directory}/objects/media: these folders`);
      const record = store.putIfAbsent('records/a.json', Buffer.from('{}'));
      await expect(record).rejects.toThrow(`to ${directory}/objects/records: these folders`);
    });
  });

  test('whose mount is lost takes nothing and is not empty, until the mount is back', async () => {
    await using opened = await openDirectory();
    const { store, directory } = opened;
    const bytes = Buffer.from('{}');
    await store.commit('records/a.json', bytes);
    const mounted = `${directory}-mounted`;
    await rename(directory, mounted);
    await mkdir(directory);
    const calls = [
      () => store.put('media/b', Readable.from([bytes])),
      () => store.commit('records/b.json', bytes),
      () => store.putIfAbsent('by-time/b', Buffer.alloc(0)),
      () =>
        store.append(newStagedWrite('media/c', 'video/mp4'), Readable.from([bytes]), { save: async () => {} } as never),
      () => store.read('records/a.json'),
      () => store.stat('records/a.json'),
      () => store.list('records/', { limit: 10 }),
      () => store.listKeys('records/', { limit: 10 }),
      () => store.remove('records/a.json'),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(StoreUnavailable);
    await expect(store.ready()).rejects.toThrow('is another one than before');
    expect(await readdir(directory)).toEqual([]);
    // A service that starts meanwhile takes the empty folder for a new store.
    const late = new FilesystemObjectStore(directory);
    await late.ready();
    await expect(store.commit('records/c.json', bytes)).rejects.toThrow('is another one than before');
    for (const call of calls.slice(4)) await expect(call()).rejects.toThrow('is another one than before');
    await expect(store.ready()).rejects.toThrow('is another one than before');
    await rm(directory, { recursive: true });
    await rename(mounted, directory);
    await expect(late.ready()).rejects.toThrow('is another one than before');
    await store.ready();
    expect(await store.exists('records/a.json')).toBe(true);
  });

  test('that several processes open first has one id, which all of them may read', async () => {
    await using opened = await openDirectory();
    const path = join(opened.directory, 'store-id');
    await writeFile(path, '');
    const stores = [opened.store, opened.other];
    const ready = Promise.all(stores.map((store) => store.ready()));
    await writeFile(path, '00000000-0000-4000-8000-000000000000');
    await ready;
    for (const store of stores) await store.ready();
    await rm(path);
    await new FilesystemObjectStore(opened.directory).ready();
    expect((await stat(path)).mode & 0o777).toBe(0o644);
    await writeFile(path, 'damaged');
    await expect(new FilesystemObjectStore(opened.directory).ready()).rejects.toThrow('has no id: remove it');
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

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { objectStoreContract } from '../contract/object-store.contract.ts';
import { StoreUnavailable } from '../object-store.ts';
import { limitationsOf } from '../store-capabilities.ts';
import { FilesystemObjectStore } from './filesystem-object-store.ts';

const sync = vi.hoisted(() => ({ code: 'EINVAL', at: /./ }));

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>();
  const open: typeof fs.open = async (path, ...rest) => {
    const handle = await fs.open(path, ...rest);
    const isRefused = sync.at.test(`${path}`) && (await handle.stat()).isDirectory();
    const refuse = async () => {
      throw Object.assign(new Error(`${sync.code}: fsync`), { code: sync.code });
    };
    return isRefused ? Object.assign(handle, { sync: refuse }) : handle;
  };
  return { ...fs, open };
});

async function openFolder() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-no-sync-'));
  return {
    path: folder.path,
    store: new FilesystemObjectStore(folder.path),
    other: new FilesystemObjectStore(folder.path),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

const media = () => Readable.from([Buffer.from('bytes')]);

describe('the filesystem store in a folder that cannot sync directories', () => {
  objectStoreContract(openFolder);

  test.each(['EINVAL', 'EBADF'])('the probe reports %s, and writes succeed', async (code) => {
    sync.code = code;
    await using folder = await openFolder();
    expect(limitationsOf(await folder.store.probe())).toEqual([expect.stringContaining('cannot sync directories')]);
    await folder.store.put('media/a', media());
    expect(await folder.store.commit('records/a.json', Buffer.from('{}'))).toBe('created');
  });
});

describe('the filesystem store in a folder whose sync fails', () => {
  test.each(['objects/media', 'objects', ''])(
    'is not ready if that of /%s does, names it, and acknowledges no write',
    async (name) => {
      await using folder = await openFolder();
      await folder.other.put('media/a', media());
      const failing = join(folder.path, name);
      Object.assign(sync, { code: 'EIO', at: new RegExp(`^${failing}$`) });
      const message = `cannot sync the folder ${failing}: EIO: fsync`;
      await expect(folder.store.ready()).rejects.toThrow(message);
      await expect(folder.store.put('media/b', media())).rejects.toThrow(message);
      await expect(folder.store.put('media/b', media())).rejects.toThrow(StoreUnavailable);
      Object.assign(sync, { at: /^$/ });
      expect(limitationsOf(await folder.store.probe())).toEqual([]);
    },
  );
});

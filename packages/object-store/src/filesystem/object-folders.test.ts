import { mkdtempDisposable, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { toStoreUnavailable } from '../store-body.ts';
import { addToFolder } from './object-folders.ts';

/** Creates a file at `path`, whose folder a removal removes before, `times` times. */
function writing(path: string, times: number) {
  let tries = 0;
  const add = async () => {
    tries += 1;
    if (tries <= times) await rmdir(dirname(path));
    await writeFile(path, '').catch((error) => {
      throw tries % 2 ? toStoreUnavailable(error) : error;
    });
  };
  return { add, tries: () => tries };
}

test('a writer makes its folder again if a removal has removed it, for some times', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'folders-test-'));
  const path = join(directory.path, 'folder/file');
  const few = writing(path, 4);
  await addToFolder(path, directory.path, few.add);
  expect(few.tries()).toBe(5);
  const other = join(directory.path, 'other/file');
  const endless = writing(other, Number.POSITIVE_INFINITY);
  await expect(addToFolder(other, directory.path, endless.add)).rejects.toThrow('ENOENT');
  expect(endless.tries()).toBe(10);
});

test('another failure is not repeated', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'folders-test-'));
  let tries = 0;
  const add = async () => {
    tries += 1;
    throw Object.assign(new Error('full'), { code: 'ENOSPC' });
  };
  await expect(addToFolder(join(directory.path, 'folder/file'), directory.path, add)).rejects.toThrow('full');
  expect(tries).toBe(1);
});

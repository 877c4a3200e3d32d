import { mkdir, mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { someRecord } from '../service.fixture.ts';
import { Ledger } from './ledger.ts';

test('several processes can add one upload at the same time', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'ledger-'));
  const ledger = new Ledger({ XDG_STATE_HOME: folder.path });
  await Promise.all(Array.from({ length: 20 }, () => ledger.add('key', someRecord)));
  expect(await ledger.find('key')).toEqual(someRecord);
  expect(await readdir(join(folder.path, 'echodrop/uploads'))).toEqual(['key.json']);
});

test('an entry that cannot be stored leaves no file', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'ledger-'));
  const uploads = join(folder.path, 'echodrop/uploads');
  await mkdir(join(uploads, 'key.json'), { recursive: true });
  await expect(new Ledger({ XDG_STATE_HOME: folder.path }).add('key', someRecord)).rejects.toThrow('EISDIR');
  expect(await readdir(uploads)).toEqual(['key.json']);
});

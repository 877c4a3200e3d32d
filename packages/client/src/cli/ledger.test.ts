import { mkdtempDisposable, readdir } from 'node:fs/promises';
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

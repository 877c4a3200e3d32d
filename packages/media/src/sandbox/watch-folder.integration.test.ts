import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exceedsLimit } from './watch-folder.ts';

test('files count whatever their names are', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'watch-folder-'));
  for (const name of [Buffer.from('plain'), Buffer.from([0xff, 0x30]), Buffer.from('\n\u202e')])
    await writeFile(Buffer.concat([Buffer.from(`${folder.path}/`), name]), Buffer.alloc(100_000, 1));
  expect(await exceedsLimit(folder.path, 290_000)).toBe(true);
  expect(await exceedsLimit(folder.path, 320_000)).toBe(false);
});

import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { expect, test } from 'vitest';
import { useDataDir } from './admin.fixture.ts';
import { exportUpload, exportUploads } from './export-uploads.ts';

const dataDir = useDataDir();

test.each([
  ['file', 'json', writeFileSync],
  ['file', 'jpg.part', writeFileSync],
  ['link', 'json', (path: string) => symlinkSync('../theirs', path)],
  ['link', 'jpg.part', (path: string) => symlinkSync('../theirs', path)],
])('an export does not write into a %s that another user planted as .%s meanwhile', async (_, extension, plant) => {
  const { id, provider, subject } = await publishSample(dataDir.store);
  const theirs = join(dataDir.folder, 'theirs');
  writeFileSync(theirs, '');
  for (const name of ['all', 'one']) {
    const folder = join(dataDir.folder, name);
    const path = join(folder, `${id}.${extension}`);
    // Between the check that the folder is empty and the first file.
    const options = { folder, audit: () => plant(path, '') };
    const exported =
      name === 'all'
        ? exportUploads(dataDir.store, { provider, subject }, options)
        : exportUpload(dataDir.store, id, options);
    await expect(Array.fromAsync(exported)).rejects.toThrow(`Another program created ${path}. Export into a folder`);
    expect([readFileSync(path, 'utf8'), readFileSync(theirs, 'utf8')]).toEqual(['', '']);
  }
});

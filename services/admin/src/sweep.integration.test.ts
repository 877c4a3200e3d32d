import { readFile, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { readSweepReport } from '@echodrop/archive/sweep-report';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, recordKey, sweepReportKey } from '@echodrop/object-store/object-keys';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adminHere, newDataDir } from './admin.fixture.ts';

const twoDaysAgo = new Date(Date.now() - 48 * 3_600_000);

let parts: AsyncDisposableStack;
let folder: string;
let store: FilesystemObjectStore;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  ({ folder, store } = await newDataDir(parts));
});
afterEach(() => parts.disposeAsync());

function run(...args: string[]) {
  return adminHere(['sweep', ...args], { DATA_DIR: folder });
}

async function putOld(key: string): Promise<string> {
  await store.put(key, Readable.from([Buffer.from('bytes')]));
  await age(join('objects', key));
  return key;
}

async function age(path: string): Promise<void> {
  await utimes(join(folder, 'store', path), twoDaysAgo, twoDaysAgo);
}

/** Of everything that is to go one, and of everything that is to stay. */
async function planted() {
  const record = await publishSample(store);
  await age(join('objects', mediaObjectKey(record.mediaKey)));
  const stays = [
    mediaObjectKey(record.mediaKey),
    await putOld(`renditions/${record.mediaKey}/large-1.jpg`),
    mediaObjectKey(newMediaKey()),
    // Not ours to judge.
    await putOld('media/of-somebody-else'),
  ];
  await store.put(stays[2] ?? '', Readable.from([Buffer.from('young')]));
  const goes = [await putOld(mediaObjectKey(newMediaKey())), await putOld(`renditions/${newMediaKey()}/large-1.jpg`)];
  await writeFile(join(folder, 'store/tmp/of-a-crash'), 'half a file');
  await age('tmp/of-a-crash');
  await writeFile(join(folder, 'store/tmp/of-one-that-runs'), 'half a file');
  return { record, stays, goes };
}

async function there(keys: readonly string[]): Promise<boolean[]> {
  return Promise.all(keys.map(async (key) => (await store.stat(key)) !== undefined));
}

async function unfinished(): Promise<string[]> {
  return (await Array.fromAsync(store.unfinished(), ({ id }) => id)).sort();
}

test('sweep counts, and with --yes removes what is old and nobody names, and leaves a report', async () => {
  const { stays, goes } = await planted();
  const counted = await run();
  expect([counted.exitCode, ...counted.lines]).toEqual([
    0,
    'media: 1, 5 bytes',
    'renditions: 1, 5 bytes',
    'unfinished uploads: 1, 11 bytes',
    'uploads in no list: 0',
    'Nothing was removed; --yes removes them.',
  ]);
  expect(await there(goes)).toEqual([true, true]);
  expect(await unfinished()).toEqual(['of-a-crash', 'of-one-that-runs']);
  expect(await readSweepReport(store)).toBeUndefined();

  const swept = await run('--yes');
  expect(swept.lines.slice(0, 3)).toEqual([
    'media: 1 removed, 5 bytes',
    'renditions: 1 removed, 5 bytes',
    'unfinished uploads: 1 removed, 11 bytes',
  ]);
  expect(await there([...goes, ...stays])).toEqual([false, false, true, true, true, true]);
  expect(await unfinished()).toEqual(['of-one-that-runs']);
  expect((await readSweepReport(store))?.kinds).toEqual({
    media: { found: 1, removed: 1, bytes: 5 },
    renditions: { found: 1, removed: 1, bytes: 5 },
    uploads: { found: 1, removed: 1, bytes: 11 },
  });
  expect((await run('--yes')).lines[0]).toBe('media: 0 removed, 0 bytes');
});

test.each(['a record that is cut off', 'a record of a later version'])(
  'while there is %s, nothing is removed',
  async (what) => {
    const { record, goes } = await planted();
    const path = join(folder, 'store/objects', recordKey(record.id));
    if (what === 'a record that is cut off') await truncate(path, 10);
    else await writeFile(path, (await readFile(path, 'utf8')).replace('"version":1', '"version":2'));
    const { exitCode, stderr } = await run('--yes');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`the record ${record.id} cannot be read`);
    expect(await there([...goes, mediaObjectKey(record.mediaKey)])).toEqual([true, true, true]);
    expect(await unfinished()).toContain('of-a-crash');
    expect(await store.stat(sweepReportKey)).toBeUndefined();
  },
);

test.each([
  ['most media of many has no record', 21, true, '21 of 22'],
  ['there is no record at all', 1, false, '1 of 1'],
])('where %s nothing is removed, unless that is said: the records may be lost', async (_, count, isPublished, told) => {
  if (isPublished) await publishSample(store);
  const orphans = await Promise.all(Array.from({ length: count }, () => putOld(mediaObjectKey(newMediaKey()))));
  const missing = `${told} media are old and have no record`;
  for (const args of [[], ['--yes']]) {
    const { exitCode, stderr } = await run(...args);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(missing)]);
  }
  expect(await there(orphans)).not.toContain(false);
  expect(await store.stat(sweepReportKey)).toBeUndefined();
  expect((await run('--yes', '--even-most')).lines[0]).toBe(`media: ${count} removed, ${5 * count} bytes`);
  expect(await there(orphans)).not.toContain(true);
});

test.each([
  [['--older-than', '12'], {}, 'at least 13'],
  [['--older-than', '1'], { MAX_UPLOAD_SECONDS: '60' }, 'at least 2'],
  [['--older-than', '0'], {}, 'number from 1'],
  [['--every', 'x'], {}, 'number from 1'],
])('%j with %j is refused', async (args, env, said) => {
  const { exitCode, stderr } = await adminHere(['sweep', '--yes', ...args], { DATA_DIR: folder, ...env });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
});

test('what is older than an hour is swept where uploads take a minute at most', async () => {
  const { goes } = await planted();
  await adminHere(['sweep', '--yes', '--older-than', '2'], { DATA_DIR: folder, MAX_UPLOAD_SECONDS: '60' });
  expect(await there(goes)).toEqual([false, false]);
});

test('with --every it goes on for ever, also when it cannot sweep, and ends in order when it is told to', async () => {
  const { record } = await planted();
  const program = join(import.meta.dirname, 'main.ts');
  const sweeper = (env: Record<string, string>) =>
    execa(process.execPath, [program, 'sweep', '--yes', '--every', '1'], {
      env: { OBJECT_STORE: 'filesystem', ...env },
      extendEnv: false,
      reject: false,
      timeout: 30_000,
    });
  const running = sweeper({ OBJECT_STORE_DIR: join(folder, 'store') });
  await waitUntil('a report', 15_000, async () => (await readSweepReport(store)) !== undefined);
  running.kill('SIGTERM');
  expect(await running).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('media: 1 removed') });

  await truncate(join(folder, 'store/objects', recordKey(record.id)), 10);
  const failing = sweeper({ OBJECT_STORE_DIR: join(folder, 'store') });
  let said = '';
  failing.stderr?.on('data', (text) => {
    said += text;
  });
  await waitUntil('a word of it', 15_000, async () => said.includes('cannot be read'));
  failing.kill('SIGTERM');
  expect((await failing).exitCode).toBe(0);
});

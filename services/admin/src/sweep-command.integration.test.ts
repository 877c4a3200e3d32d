import { truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { readSweepReport } from '@echodrop/archive/sweep-report';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, recordKey, sweepReportKey } from '@echodrop/object-store/object-keys';
import { StoreUnavailable } from '@echodrop/object-store/object-store';
import { builtService } from '@echodrop/testkit/built-service';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { runCommand, useDataDir } from './admin.fixture.ts';

const twoDaysAgo = new Date(Date.now() - 48 * 3_600_000);

const dataDir = useDataDir();

function run(...args: string[]) {
  return runCommand(['sweep', ...args], { DATA_DIR: dataDir.folder });
}

async function putOld(key: string): Promise<string> {
  await dataDir.store.put(key, Readable.from([Buffer.from('bytes')]));
  await age(join('objects', key));
  return key;
}

async function age(path: string): Promise<void> {
  await utimes(join(dataDir.folder, 'store', path), twoDaysAgo, twoDaysAgo);
}

/** Writes an object of each kind that a sweep removes or keeps. */
async function plant() {
  const record = await publishSample(dataDir.store);
  await age(join('objects', mediaObjectKey(record.mediaKey)));
  const stays = [
    mediaObjectKey(record.mediaKey),
    await putOld(`renditions/${record.mediaKey}/large-1.jpg`),
    mediaObjectKey(newMediaKey()),
    // Not a media key.
    await putOld('media/not-a-key'),
  ];
  await dataDir.store.put(stays[2] ?? '', Readable.from([Buffer.from('young')]));
  const goes = [await putOld(mediaObjectKey(newMediaKey())), await putOld(`renditions/${newMediaKey()}/large-1.jpg`)];
  await writeFile(join(dataDir.folder, 'store/tmp/of-a-crash'), 'half a file');
  await age('tmp/of-a-crash');
  await writeFile(join(dataDir.folder, 'store/tmp/of-one-that-runs'), 'half a file');
  return { record, stays, goes };
}

async function exist(keys: readonly string[]): Promise<boolean[]> {
  return Promise.all(keys.map(async (key) => (await dataDir.store.stat(key)) !== undefined));
}

async function unfinished(): Promise<string[]> {
  return (await Array.fromAsync(dataDir.store.listUnfinishedWrites(), ({ id }) => id)).sort();
}

test('sweep counts, and with --yes deletes old orphans and writes a report', async () => {
  const { stays, goes } = await plant();
  const counted = await run();
  expect([counted.exitCode, ...counted.lines]).toEqual([
    0,
    'orphaned media: 1 found, 5 bytes',
    'orphaned renditions: 1 found, 5 bytes',
    'incomplete multipart uploads: 1 found, 11 bytes',
    'expired resumable uploads: 0 found, 0 bytes',
    'uploads missing from the listings: 0 found',
    'Dry run: nothing changed. Add --yes to apply the changes.',
  ]);
  expect(await exist(goes)).toEqual([true, true]);
  expect(await unfinished()).toEqual(['of-a-crash', 'of-one-that-runs']);
  expect(await readSweepReport(dataDir.store)).toBeUndefined();

  const swept = await run('--yes');
  expect(swept.lines.slice(0, 4)).toEqual([
    'orphaned media: 1 found, 1 deleted, 5 bytes',
    'orphaned renditions: 1 found, 1 deleted, 5 bytes',
    'incomplete multipart uploads: 1 found, 1 deleted, 11 bytes',
    'expired resumable uploads: 0 found, 0 deleted, 0 bytes',
  ]);
  expect(await exist([...goes, ...stays])).toEqual([false, false, true, true, true, true]);
  expect(await unfinished()).toEqual(['of-one-that-runs']);
  expect((await readSweepReport(dataDir.store))?.kinds).toEqual({
    media: { found: 1, removed: 1, bytes: 5 },
    renditions: { found: 1, removed: 1, bytes: 5 },
    uploads: { found: 1, removed: 1, bytes: 11 },
    resumable: { found: 0, removed: 0, bytes: 0 },
  });
  expect((await run('--yes')).lines[0]).toBe('orphaned media: 0 found, 0 deleted, 0 bytes');
});

test('says what it deleted also if the report cannot be written, as on a full disk, or the store fails before the end', async () => {
  const { goes } = await plant();
  const { put, listUnfinishedWrites } = FilesystemObjectStore.prototype;
  const full = vi.spyOn(FilesystemObjectStore.prototype, 'put').mockImplementation(async (key, ...rest) => {
    if (key === sweepReportKey) throw new StoreUnavailable('ENOSPC: no space left on device');
    return put.call(dataDir.store, key, ...rest);
  });
  const swept = await run('--yes');
  full.mockRestore();
  expect([swept.exitCode, ...swept.lines.slice(0, 2), swept.lines.at(-1), swept.stderr]).toEqual([
    1,
    'orphaned media: 1 found, 1 deleted, 5 bytes',
    'orphaned renditions: 1 found, 1 deleted, 5 bytes',
    expect.stringMatching(/^Swept at /),
    'The report of this sweep could not be written: ENOSPC: no space left on device',
  ]);
  expect(await exist(goes)).toEqual([false, false]);

  await plant();
  const down = vi.spyOn(FilesystemObjectStore.prototype, 'listUnfinishedWrites').mockImplementation(async function* () {
    yield* listUnfinishedWrites.call(dataDir.store);
    throw new StoreUnavailable('EIO: i/o error');
  });
  const stopped = await run('--yes');
  down.mockRestore();
  expect([stopped.exitCode, ...stopped.lines.slice(0, 3), stopped.stderr]).toEqual([
    1,
    'orphaned media: 1 found, 1 deleted, 5 bytes',
    'orphaned renditions: 1 found, 1 deleted, 5 bytes',
    expect.stringMatching(/^incomplete multipart uploads: [01] found, [01] deleted/),
    'EIO: i/o error',
  ]);
  expect(stopped.stdout).not.toContain('Swept at');
  expect(await readSweepReport(dataDir.store)).toBeUndefined();
});

test('deletes no media while a record is unreadable, but unfinished writes', async () => {
  const { record, goes } = await plant();
  const path = join(dataDir.folder, 'store/objects', recordKey(record.id));
  await truncate(path, 10);
  const { exitCode, lines, stderr } = await run('--yes');
  expect([exitCode, ...lines]).toEqual([
    1,
    'orphaned media: not searched',
    'orphaned renditions: not searched',
    'incomplete multipart uploads: 1 found, 1 deleted, 11 bytes',
    'expired resumable uploads: 0 found, 0 deleted, 0 bytes',
    'uploads missing from the listings: 0 found, 0 added',
  ]);
  expect(stderr).toMatch(new RegExp(`Record ${record.id} is unreadable \\(.*no media or rendition was deleted`));
  expect(await exist([...goes, mediaObjectKey(record.mediaKey)])).toEqual([true, true, true]);
  expect(await unfinished()).toEqual(['of-one-that-runs']);
  expect(await dataDir.store.stat(sweepReportKey)).toBeUndefined();
});

test('deletes nothing if records are missing, unless forced', async () => {
  const orphan = await putOld(mediaObjectKey(newMediaKey()));
  for (const args of [[], ['--yes']]) {
    const { exitCode, stdout, stderr } = await run(...args);
    expect([exitCode, stdout, stderr]).toEqual([1, '', expect.stringContaining('1 of 1 media have no record')]);
  }
  expect(await exist([orphan])).toEqual([true]);
  expect(await dataDir.store.stat(sweepReportKey)).toBeUndefined();
  expect((await run('--yes', '--force')).lines[0]).toBe('orphaned media: 1 found, 1 deleted, 5 bytes');
  expect(await exist([orphan])).toEqual([false]);
});

test.each([
  [['--older-than', '12'], {}, 'at least 13'],
  [['--older-than', '1'], { MAX_UPLOAD_SECONDS: '60' }, 'at least 2'],
  [['--older-than', '0'], {}, 'Must be 1 to'],
  [['--every', 'x'], {}, 'Must be 1 to'],
])('%j with %j exits with status 2', async (args, env, expected) => {
  const { exitCode, stderr } = await runCommand(['sweep', '--yes', ...args], { DATA_DIR: dataDir.folder, ...env });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(expected)]);
});

test('MAX_UPLOAD_SECONDS allows sweeping younger orphans', async () => {
  const { goes } = await plant();
  await runCommand(['sweep', '--yes', '--older-than', '2'], { DATA_DIR: dataDir.folder, MAX_UPLOAD_SECONDS: '60' });
  expect(await exist(goes)).toEqual([false, false]);
});

test('--every repeats, also after a failed sweep, until SIGTERM', async () => {
  const { record } = await plant();
  const program = await builtService('admin');
  const sweeper = (env: Record<string, string>) =>
    execa(process.execPath, [program, 'sweep', '--yes', '--every', '1'], {
      env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], OBJECT_STORE: 'filesystem', ...env },
      extendEnv: false,
      reject: false,
      timeout: patienceMs,
    });
  const running = sweeper({ OBJECT_STORE_DIR: join(dataDir.folder, 'store') });
  await waitUntil('a report', async () => (await readSweepReport(dataDir.store)) !== undefined);
  running.kill('SIGTERM');
  expect(await running).toMatchObject({
    exitCode: 0,
    stderr: '',
    stdout: expect.stringContaining('media: 1 found, 1 deleted'),
  });

  await truncate(join(dataDir.folder, 'store/objects', recordKey(record.id)), 10);
  const failing = sweeper({ OBJECT_STORE_DIR: join(dataDir.folder, 'store') });
  let output = '';
  failing.stderr?.on('data', (text) => {
    output += text;
  });
  await waitUntil('a failure', async () => /Sweep failed: .* is unreadable/.test(output));
  failing.kill('SIGTERM');
  expect((await failing).exitCode).toBe(0);
});

import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { listRecords } from '@echodrop/archive/records';
import { removeMedia } from '@echodrop/archive/remove-media';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listObjects } from '@echodrop/object-store/list-objects';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { minioStore } from '@echodrop/object-store/s3/minio-store.fixture';
import { isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { findProgram } from '@echodrop/testkit/find-program';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from './admin.fixture.ts';

interface Place {
  readonly store: ObjectStore;
  readonly settings: Record<string, string>;
}

/** Copies the objects below a prefix, as in docs/host/backup.md; `onlyExisting` only updates objects in the copy. */
type Copy = (prefix: string, options?: { onlyExisting: boolean }) => Promise<void>;

const removed = () => ({ by: 'owner', at: new Date() }) as const;

let resources: AsyncDisposableStack;
beforeEach(() => {
  resources = new AsyncDisposableStack();
});
afterEach(() => resources.disposeAsync());

async function folderPlace(): Promise<Place & { folder: string }> {
  const { path: folder } = resources.use(await mkdtempDisposable(join(tmpdir(), 'backup-test-')));
  const store = new FilesystemObjectStore(folder);
  await store.ready();
  return { store, folder, settings: { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: folder } };
}

/** Uploads and removes continuously until `end`; `progress` resolves after some more of both. */
function keepBusy(store: ObjectStore, published: StoredRecord[]) {
  let isOver = false;
  let count = 0;
  const busy = (async () => {
    for (; !isOver; count += 1) {
      const record = await publishSample(store, {}, Buffer.from(`media ${count}`));
      published.push(record);
      await store.put(`renditions/${record.mediaKey}/large-1.jpg`, Readable.from([Buffer.from('picture')]));
      if (count % 4 === 0) await store.put(mediaObjectKey(newMediaKey()), Readable.from([Buffer.from('refused')]));
      const [toRemove] = count % 3 === 0 ? published.splice(Math.floor(published.length / 2), 1) : [];
      if (toRemove) await removeMedia(store, toRemove, removed());
    }
  })();
  const progress = () => {
    const enough = count + 3;
    return waitUntil('some uploads', async () => count >= enough);
  };
  const end = () => {
    isOver = true;
    return busy;
  };
  return { progress, end, [Symbol.asyncDispose]: end };
}

/** Backs up in the order of docs/host/backup.md: records, media and the rest, then the copied records again. */
async function backUp(copy: Copy, meanwhile = async () => {}): Promise<void> {
  for (const prefix of ['records/', 'media/', 'renditions/', 'blocks/']) {
    await copy(prefix);
    await meanwhile();
  }
  await copy('records/', { onlyExisting: true });
}

async function publishedIds(store: ObjectStore): Promise<string[]> {
  const ids = [];
  for await (const { id, found } of listRecords(store))
    if (found && !(found instanceof UnreadableRecord) && !isTombstone(found)) ids.push(id);
  return ids;
}

/** What an operator does after restoring a backup; returns the result of verify-store. */
async function repair({ settings }: Place, ...options: string[]) {
  for (const args of [['rebuild-listings'], ['sweep', '--yes']]) {
    const { exitCode, stderr } = await runCommand(args, settings);
    expect([exitCode, stderr]).toEqual([0, '']);
  }
  return runCommand(['verify-store', '--bytes', ...options], settings);
}

async function expectBackup(from: Place, to: Place, copy: Copy, ...options: string[]): Promise<void> {
  const early = [];
  for (let n = 0; n < 8; n += 1) early.push(await publishSample(from.store, {}, Buffer.from(`early ${n}`)));
  await removeMedia(from.store, await publishSample(from.store), removed());
  const large = await publishSample(from.store, {}, Buffer.alloc(9 * 1024 * 1024, 'large'));
  await using busy = keepBusy(from.store, early);
  const before = await publishedIds(from.store);
  await backUp(copy, () => busy.progress());
  await busy.end();
  const { exitCode, stdout } = await repair(to, ...options);
  expect(stdout).toMatch(/Checked \d+ records: \d+ orphans, 0 faults\.$/);
  expect(exitCode).toBe(0);
  const after = new Set(await publishedIds(to.store));
  const remaining = new Set(await publishedIds(from.store));
  expect(before.filter((id) => remaining.has(id) && !after.has(id))).toEqual([]);
  expect(after).toContain(large.id);
}

/** Copies through the stores like rclone: bytes and names, but no times or tags. */
function copyLikeRclone(from: ObjectStore, to: ObjectStore): Copy {
  return async (prefix, { onlyExisting } = { onlyExisting: false }) => {
    for await (const { key } of listObjects(from, prefix)) {
      if (onlyExisting && !(await to.stat(key))) continue;
      const reading = await from.read(key);
      if (reading) await to.put(key, reading.body);
    }
  };
}

const hasRsync = (await findProgram('rsync')) !== undefined;

test('rsync backs up a folder while uploads run', unlessMissing({ rsync: hasRsync }), async () => {
  const from = await folderPlace();
  const to = await folderPlace();
  await expectBackup(from, to, async (prefix, { onlyExisting } = { onlyExisting: false }) => {
    const source = join(from.folder, 'objects', prefix.slice(0, -1));
    const target = join(to.folder, 'objects');
    const options = ['-a', '--ignore-missing-args', ...(onlyExisting ? ['--existing'] : [])];
    const { exitCode } = await execa('rsync', [...options, source, target], { reject: false });
    // Removals meanwhile make it exit with 24.
    expect([0, 24]).toContain(exitCode);
  });
});

describeWithMinio('with MinIO', {}, (startMinio) => {
  async function bucketPlace(): Promise<Place> {
    const minio = resources.use(await startMinio());
    const store = resources.use(minioStore(minio));
    await store.ready();
    return { store, settings: minio.settings };
  }

  test('backs up a bucket to another, and to a folder and back, while uploads run', async () => {
    const from = await bucketPlace();
    const folder = await folderPlace();
    const to = await bucketPlace();
    await expectBackup(from, folder, copyLikeRclone(from.store, folder.store), '--moved');
    const tags = await runCommand(['verify-store'], folder.settings);
    expect([tags.exitCode, tags.stdout]).toEqual([1, expect.stringContaining('use --moved')]);
    await backUp(copyLikeRclone(folder.store, to.store));
    const { exitCode, lines } = await repair(to);
    expect([exitCode, lines.at(-1)]).toEqual([0, expect.stringContaining(' 0 faults.')]);
  });
});

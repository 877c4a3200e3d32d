import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { listRecords } from '@echodrop/archive/every-record';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { removeMedia } from '@echodrop/archive/remove-media';
import { listObjects } from '@echodrop/object-store/every-object';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { minioStore } from '@echodrop/object-store/s3/minio-store.fixture';
import { isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adminHere } from './admin.fixture.ts';

interface Place {
  readonly store: ObjectStore;
  readonly settings: Record<string, string>;
}

/** Copies what lies below a prefix, as docs/operations/backup.md says; `onlyThoseThere` renews what the copy has already. */
type Copy = (prefix: string, options?: { onlyThoseThere: boolean }) => Promise<void>;

const removed = () => ({ by: 'owner', at: new Date() }) as const;

let parts: AsyncDisposableStack;
beforeEach(() => {
  parts = new AsyncDisposableStack();
});
afterEach(() => parts.disposeAsync());

async function folderPlace(): Promise<Place & { folder: string }> {
  const { path: folder } = parts.use(await mkdtempDisposable(join(tmpdir(), 'backup-test-')));
  const store = new FilesystemObjectStore(folder);
  await store.ready();
  return { store, folder, settings: { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: folder } };
}

/** An archive in which people upload, change their minds and take down, until it is told to stop. */
class BusyArchive implements AsyncDisposable {
  readonly #store: ObjectStore;
  readonly #busy: Promise<void>;
  #isOver = false;
  #count = 0;

  constructor(store: ObjectStore, published: readonly StoredRecord[]) {
    this.#store = store;
    this.#busy = this.#upload([...published]);
  }

  /** Resolves when more was uploaded and taken down. */
  async goesOn(): Promise<void> {
    const enough = this.#count + 3;
    await waitUntil('some uploads', 20_000, async () => this.#count >= enough);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#busy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  async #upload(published: StoredRecord[]): Promise<void> {
    for (let n = 0; !this.#isOver; n += 1) {
      const record = await publishSample(this.#store, {}, Buffer.from(`media ${n}`));
      published.push(record);
      await this.#store.put(`renditions/${record.mediaKey}/large-1.jpg`, Readable.from([Buffer.from('picture')]));
      if (n % 4 === 0) await this.#store.put(mediaObjectKey(newMediaKey()), Readable.from([Buffer.from('refused')]));
      const [unwanted] = n % 3 === 0 ? published.splice(Math.floor(published.length / 2), 1) : [];
      if (unwanted) await removeMedia(this.#store, unwanted, removed());
      this.#count = n;
    }
  }
}

/** The order of docs/operations/backup.md: records, what they name, and the records that are in the copy once more. */
async function backedUp(copy: Copy, meanwhile = async () => {}): Promise<void> {
  for (const prefix of ['records/', 'media/', 'renditions/', 'blocks/']) {
    await copy(prefix);
    await meanwhile();
  }
  await copy('records/', { onlyThoseThere: true });
}

async function publishedIn(store: ObjectStore): Promise<string[]> {
  const ids = [];
  for await (const { id, found } of listRecords(store))
    if (found && !(found instanceof UnreadableRecord) && !isTombstone(found)) ids.push(id);
  return ids;
}

/** What an operator does where a backup was brought back; gives what verify-store says. */
async function putInOrder({ settings }: Place, ...options: string[]) {
  for (const args of [['rebuild-listings'], ['sweep', '--yes']]) {
    const { exitCode, stderr } = await adminHere(args, settings);
    expect([exitCode, stderr]).toEqual([0, '']);
  }
  return adminHere(['verify-store', '--bytes', ...options], settings);
}

async function survives(from: Place, to: Place, copy: Copy, ...options: string[]): Promise<void> {
  const early = [];
  for (let n = 0; n < 8; n += 1) early.push(await publishSample(from.store, {}, Buffer.from(`early ${n}`)));
  await removeMedia(from.store, await publishSample(from.store), removed());
  const large = await publishSample(from.store, {}, Buffer.alloc(9 * 1024 * 1024, 'large'));
  await using busy = new BusyArchive(from.store, early);
  const before = await publishedIn(from.store);
  await backedUp(copy, () => busy.goesOn());
  await busy.end();
  const { exitCode, stdout } = await putInOrder(to, ...options);
  expect(stdout).toMatch(/\n?[^\n]* records were looked at: \d+ leftovers, 0 faults\.$/);
  expect(exitCode).toBe(0);
  const [after, stillThere] = [new Set(await publishedIn(to.store)), new Set(await publishedIn(from.store))];
  expect(before.filter((id) => stillThere.has(id) && !after.has(id))).toEqual([]);
  expect(after).toContain(large.id);
}

/** A copy through the stores, as rclone makes it: bytes and names, no times and no tags. */
function through(from: ObjectStore, to: ObjectStore): Copy {
  return async (prefix, { onlyThoseThere } = { onlyThoseThere: false }) => {
    for await (const { key } of listObjects(from, prefix)) {
      if (onlyThoseThere && !(await to.stat(key))) continue;
      const reading = await from.read(key);
      if (reading) await to.put(key, reading.body);
    }
  };
}

test('a folder is copied by rsync, or by cp as rsync would, while uploads go on', { timeout: 60_000 }, async () => {
  const [from, to] = [await folderPlace(), await folderPlace()];
  const hasRsync = !(await execa('rsync', ['--version'], { reject: false })).failed;
  await survives(from, to, async (prefix, { onlyThoseThere } = { onlyThoseThere: false }) => {
    const [source, target] = [join(from.folder, 'objects', prefix), join(to.folder, 'objects', prefix)];
    const existing = onlyThoseThere ? ['--existing'] : [];
    // What is removed meanwhile makes rsync end with 24, and cp with 1.
    const copied = hasRsync
      ? await execa(
          'rsync',
          ['-a', '--mkpath', '--ignore-missing-args', ...existing, source.slice(0, -1), join(to.folder, 'objects')],
          {
            reject: false,
          },
        )
      : await execa('sh', ['-c', onlyThoseThere ? renewed : anew, 'sh', source, target], { reject: false });
    expect([0, 24, ...(hasRsync ? [] : [1])]).toContain(copied.exitCode);
  });
});

const anew = '[ ! -d "$1" ] || { mkdir -p "$2" && cp -a "$1". "$2"; }';
const renewed = 'cd "$2" && for name in *; do cp -a "$1$name" "$name"; done';

describeWithMinio('with MinIO', {}, (startMinio) => {
  async function bucketPlace(): Promise<Place> {
    const minio = parts.use(await startMinio());
    const store = parts.use(minioStore(minio));
    await store.ready();
    return { store, settings: minio.settings };
  }

  test('a bucket is copied to another, and to a folder and back, while uploads go on', {
    timeout: 90_000,
  }, async () => {
    const [from, folder, to] = [await bucketPlace(), await folderPlace(), await bucketPlace()];
    await survives(from, folder, through(from.store, folder.store), '--moved');
    const tags = await adminHere(['verify-store'], folder.settings);
    expect([tags.exitCode, tags.stdout]).toEqual([1, expect.stringContaining('ask with --moved')]);
    await backedUp(through(folder.store, to.store));
    const { exitCode, lines } = await putInOrder(to);
    expect([exitCode, lines.at(-1)]).toEqual([0, expect.stringContaining(' 0 faults.')]);
  });
});

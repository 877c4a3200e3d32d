import { access, constants, type FileHandle, link, mkdir, open, opendir, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Checksum } from '../checksum.ts';
import { consumeSource } from '../consume-source.ts';
import { assertObjectKey, assertPrefix } from '../object-keys.ts';
import {
  type ByteRange,
  type ListedObject,
  maxListLength,
  type ObjectReading,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type ReadOptions,
  type StoredObject,
  StoreUnavailable,
  type UnfinishedWrite,
  type WrittenObject,
} from '../object-store.ts';
import { storeBody, storeFault } from '../store-body.ts';
import { type FileFacts, syncNames, TemporaryFile } from './durable-file.ts';
import { WalksKept } from './kept-walks.ts';

/**
 * The store in a directory of a local filesystem: objects are `objects/<key>`, and what is being written lies in `tmp/`
 * until it is whole. An answer means that bytes and name
 * are on the disk.
 */
export class FilesystemObjectStore implements ObjectStore {
  readonly #root: string;
  readonly #objects: string;
  readonly #temporary: string;
  readonly #walks: WalksKept;

  constructor(directory: string) {
    this.#root = resolve(directory);
    this.#objects = join(this.#root, 'objects');
    this.#temporary = join(this.#root, 'tmp');
    this.#walks = new WalksKept(this.#objects);
  }

  async put(key: string, source: Readable, { signal }: { signal?: AbortSignal } = {}): Promise<WrittenObject> {
    const path = this.#pathOf(key);
    await using file = new TemporaryFile(this.#temporary);
    const checksum = new Checksum();
    let size = 0n;
    await consumeSource(source, signal, (chunk) => {
      checksum.add(chunk);
      size += BigInt(chunk.length);
      return fromDisk(file.append(chunk));
    });
    const facts = await fromDisk(file.sync());
    if (facts.size !== size) throw new StoreUnavailable(`the disk has ${facts.size} bytes of ${size}`);
    signal?.throwIfAborted();
    await fromDisk(this.#name(path, () => rename(file.path, path)));
    return { ...described(key, facts), crc32: checksum.hex };
  }

  async putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    const path = this.#pathOf(key);
    if (await this.exists(key)) {
      // Its writer may have died before the name was on the disk.
      await fromDisk(syncNames(path, this.#root));
      return 'exists';
    }
    await using file = new TemporaryFile(this.#temporary);
    await fromDisk(file.append(bytes));
    await fromDisk(file.sync());
    // Unlike a file opened with O_EXCL, a link is there with all its bytes or not at all.
    const linked = await fromDisk(
      this.#name(path, () => link(file.path, path).then(() => true)),
      'EEXIST',
    );
    return linked ? 'created' : 'exists';
  }

  async read(key: string, { range, signal, crc32 }: ReadOptions = {}): Promise<ObjectReading | undefined> {
    const path = this.#pathOf(key);
    signal?.throwIfAborted();
    const handle = await fromDisk(open(path, 'r'), 'ENOENT', 'ENOTDIR');
    if (handle === undefined) return undefined;
    const facts = await fromDisk(handle.stat({ bigint: true }));
    if (!facts.isFile()) {
      await handle.close();
      return undefined;
    }
    const object = described(key, facts);
    return { ...object, body: storeBody(await bytesOf(handle, object.size, range), signal, range ? undefined : crc32) };
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const facts = await fromDisk(stat(this.#pathOf(key), { bigint: true }), 'ENOENT', 'ENOTDIR');
    return facts?.isFile() ? described(key, facts) : undefined;
  }

  /** Nothing is between this process and the disk that could. */
  async supportsChecksums(): Promise<boolean> {
    return true;
  }

  async exists(key: string): Promise<boolean> {
    return (await this.stat(key)) !== undefined;
  }

  async list(
    prefix: string,
    { after = '', limit }: { after?: string | undefined; limit: number },
  ): Promise<ListedObject[]> {
    assertPrefix(prefix);
    return fromDisk(this.#listed(prefix, after, Math.min(limit, maxListLength)));
  }

  async remove(key: string): Promise<void> {
    const path = this.#pathOf(key);
    const removed = await fromDisk(
      unlink(path).then(() => true),
      'ENOENT',
      'ENOTDIR',
    );
    if (removed) await fromDisk(syncNames(path, this.#root));
  }

  async *unfinished(): AsyncGenerator<UnfinishedWrite> {
    const directory = await fromDisk(opendir(this.#temporary), 'ENOENT');
    for await (const { name: id } of directory ?? []) {
      const facts = await fromDisk(stat(join(this.#temporary, id)), 'ENOENT');
      if (facts?.isFile()) yield { id, writtenAt: facts.mtime, size: facts.size };
    }
  }

  async abandon({ id }: UnfinishedWrite): Promise<void> {
    assertObjectKey(id);
    await fromDisk(unlink(join(this.#temporary, id)), 'ENOENT');
  }

  async clock(): Promise<Date> {
    return new Date();
  }

  async ready(): Promise<void> {
    for (const directory of [this.#objects, this.#temporary]) {
      await fromDisk(mkdir(directory, { recursive: true }));
      await fromDisk(access(directory, constants.R_OK | constants.W_OK));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #listed(prefix: string, after: string, limit: number): Promise<ListedObject[]> {
    const found: ListedObject[] = [];
    const walk = this.#walks.goOn(prefix, after);
    while (found.length < limit) {
      const { value: key, done } = await walk.next();
      if (done) return found;
      const facts = await fromDisk(stat(join(this.#objects, key), { bigint: true }), 'ENOENT', 'ENOTDIR');
      if (facts) found.push({ ...described(key, facts), writtenAt: facts.mtime });
    }
    // Only those who list everything come back for so many more.
    if (limit === maxListLength) this.#walks.keep(prefix, found.at(-1)?.key ?? '', walk);
    return found;
  }

  #pathOf(key: string): string {
    assertObjectKey(key);
    return join(this.#objects, key);
  }

  async #name<T>(path: string, give: () => Promise<T>): Promise<T> {
    await mkdir(dirname(path), { recursive: true });
    const given = await give();
    await syncNames(path, this.#root);
    return given;
  }
}

// A file's time of change is set to the microsecond when it is written, and copies with care (rsync -a, tar) keep it.
function described(key: string, { size, mtimeNs }: FileFacts): StoredObject {
  return { key, size: Number(size), etag: `${size.toString(16)}-${mtimeNs.toString(16)}` };
}

async function bytesOf(handle: FileHandle, size: number, range: ByteRange | undefined): Promise<Readable> {
  const { offset: start, length } = range ?? { offset: 0, length: size };
  const end = Math.min(start + length, size) - 1;
  if (end >= start) return handle.createReadStream({ start, end });
  await handle.close();
  return Readable.from([]);
}

/** What an operation on the disk gave; undefined where it failed with one of the codes in `expected`. */
async function fromDisk<T>(operation: Promise<T>): Promise<T>;
async function fromDisk<T>(operation: Promise<T>, ...expected: string[]): Promise<T | undefined>;
async function fromDisk<T>(operation: Promise<T>, ...expected: string[]): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (expected.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw storeFault(error);
  }
}

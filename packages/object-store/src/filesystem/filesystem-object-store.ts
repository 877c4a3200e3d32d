import { lstat, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Checksum } from '../checksum.ts';
import { consumeSource } from '../consume-source.ts';
import { assertPrefix } from '../object-keys.ts';
import {
  type KeyPage,
  type ListedObject,
  type ListPage,
  type ObjectReading,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutOptions,
  type ReadOptions,
  type StoredObject,
  StoreUnavailable,
  type UnfinishedWrite,
  type WrittenObject,
} from '../object-store.ts';
import type { AppendOptions, StagedWrite } from '../staged-write.ts';
import { fromStore, storeBody } from '../store-body.ts';
import { type StoreCapabilities, usualCapabilities } from '../store-capabilities.ts';
import { DirectoryLists } from './directory-lists.ts';
import { TemporaryFile } from './durable-file.ts';
import { FolderIdentity } from './folder-identity.ts';
import { removeEmptyFolders } from './object-folders.ts';
import { ObjectNames } from './object-names.ts';
import { pathOf, pathOfListed } from './object-paths.ts';
import { listTemporaryFiles, removeTemporaryFile, StagedFile } from './staged-file.ts';
import { openObject, storedObject } from './stored-file.ts';

/**
 * Stores objects as `objects/<key>` in a directory. Finished writes are durable; unfinished ones are in `tmp/`. Only `ready` makes these folders.
 * Before it says that something is missing, it compares the folder: below a lost mount, nothing would be there.
 */
export class FilesystemObjectStore implements ObjectStore {
  readonly rereadMs = 0;
  readonly #root: string;
  readonly #objects: string;
  readonly #temporary: string;
  readonly #lists: DirectoryLists;
  readonly #names: ObjectNames;
  readonly #onProbed: (found: StoreCapabilities) => void;
  readonly #identity: FolderIdentity;
  #isOpen = false;
  #trial: Promise<void> | undefined;

  /** `onProbed` gets what each probe finds. */
  constructor(directory: string, onProbed: (found: StoreCapabilities) => void = () => {}) {
    this.#onProbed = onProbed;
    this.#root = resolve(directory);
    this.#objects = join(this.#root, 'objects');
    this.#temporary = join(this.#root, 'tmp');
    this.#identity = new FolderIdentity(this.#root);
    this.#lists = new DirectoryLists(this.#objects);
    this.#names = new ObjectNames({ root: this.#root, objects: this.#objects, temporary: this.#temporary });
  }

  async put(key: string, source: Readable, options: PutOptions = {}): Promise<WrittenObject> {
    const path = pathOf(this.#objects, key);
    await this.#openFor(source);
    await using file = new TemporaryFile(this.#temporary);
    const checksum = new Checksum();
    let size = 0n;
    await consumeSource(source, options, (chunk) => {
      checksum.add(chunk);
      size += BigInt(chunk.length);
      return fromStore(file.append(chunk));
    });
    const stats = await fromStore(file.sync());
    if (stats.size !== size) throw new StoreUnavailable(`object truncated: ${stats.size} of ${size} bytes on disk`);
    options.signal?.throwIfAborted();
    await this.#names.move(file.path, path);
    return { ...storedObject(key, stats), crc32: checksum.hex };
  }

  async putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    const path = pathOf(this.#objects, key);
    if (!this.#isOpen) await this.ready();
    if (await this.exists(key)) {
      await this.#names.sync(path);
      return 'exists';
    }
    const isAdded = bytes.length > 0 ? await this.#add(path, bytes) : await this.#names.addEmpty(path);
    return isAdded ? 'created' : 'exists';
  }

  async commit(key: string, bytes: Buffer, beforeWrite?: () => Promise<void>): Promise<PutIfAbsentOutcome> {
    await beforeWrite?.();
    return this.putIfAbsent(key, bytes);
  }

  async read(key: string, { range, signal, crc32 }: ReadOptions = {}): Promise<ObjectReading | undefined> {
    const path = pathOf(this.#objects, key);
    signal?.throwIfAborted();
    const opened = await fromStore(openObject(path, range));
    if (!opened) return this.#identity.requireSame();
    const { stats, length, body } = opened;
    return { ...storedObject(key, stats), body: storeBody(body, signal, { length, crc32: range ? undefined : crc32 }) };
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const stats = await fromStore(lstat(pathOf(this.#objects, key), { bigint: true }), 'ENOENT', 'ENOTDIR');
    return stats?.isFile() ? storedObject(key, stats) : this.#identity.requireSame();
  }

  async probe(): Promise<StoreCapabilities> {
    await this.ready();
    return this.#capabilities;
  }

  async exists(key: string): Promise<boolean> {
    return (await this.stat(key)) !== undefined;
  }

  async list(prefix: string, page: ListPage): Promise<ListedObject[]> {
    assertPrefix(prefix);
    const objects = await this.#lists.list(prefix, page);
    if (objects.length === 0) await this.#identity.requireSame();
    return objects;
  }

  async listKeys(prefix: string, page: KeyPage): Promise<string[]> {
    assertPrefix(prefix);
    const keys = await this.#lists.listKeys(prefix, page);
    if (keys.length === 0) await this.#identity.requireSame();
    return keys;
  }

  async remove(key: string): Promise<void> {
    const path = pathOfListed(this.#objects, key);
    const removed = await fromStore(
      unlink(path).then(() => true),
      'ENOENT',
      'ENOTDIR',
      'EISDIR',
    );
    await removeEmptyFolders(path, this.#objects);
    await (removed ? this.#names.sync(path) : this.#identity.requireSame());
  }

  async append(write: StagedWrite, source: Readable, options: AppendOptions): Promise<void> {
    await this.#openFor(source);
    await using file = await StagedFile.open(this.#temporary, write);
    await file.append(source, options);
  }

  async completeWrite(write: StagedWrite): Promise<WrittenObject> {
    const path = pathOf(this.#objects, write.key);
    const { crc32 } = write;
    const finished = await this.stat(write.key);
    if (finished?.size === write.size) {
      await this.#names.sync(path);
      return { ...finished, crc32 };
    }
    await using file = await StagedFile.open(this.#temporary, write);
    const stats = await file.finish();
    await this.#names.move(file.path, path);
    return { ...storedObject(write.key, stats), crc32 };
  }

  async discardWrite({ id }: StagedWrite): Promise<void> {
    if (id !== undefined) await this.abortWrite({ id });
  }

  listUnfinishedWrites(): AsyncGenerator<UnfinishedWrite> {
    return listTemporaryFiles(this.#temporary);
  }

  async abortWrite({ id }: Pick<UnfinishedWrite, 'id'>): Promise<void> {
    await removeTemporaryFile(this.#temporary, id);
  }

  async clock(): Promise<Date> {
    return new Date();
  }

  async ready(): Promise<void> {
    await this.#identity.require([this.#objects, this.#temporary]);
    this.#isOpen = true;
    this.#trial ??= this.#try().catch((error: unknown) => {
      this.#trial = undefined;
      throw error;
    });
    await this.#trial;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  get #capabilities(): StoreCapabilities {
    return { ...usualCapabilities, ...this.#names.capabilities };
  }

  async #openFor(source: Readable): Promise<void> {
    // The stream may fail before it has a reader. The reader then gets the error.
    source.on('error', () => {});
    try {
      if (!this.#isOpen) await this.ready();
    } catch (error) {
      source.destroy();
      throw error;
    }
  }

  async #try(): Promise<void> {
    await this.#names.try();
    this.#onProbed(this.#capabilities);
  }

  async #add(path: string, bytes: Buffer): Promise<boolean> {
    await using file = new TemporaryFile(this.#temporary);
    await fromStore(file.append(bytes));
    await fromStore(file.sync());
    return await this.#names.add(file.path, path);
  }
}

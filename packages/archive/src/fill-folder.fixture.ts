import { linkSync, lstatSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { storedObject } from '@echodrop/object-store/filesystem/stored-file';
import { mediaObjectKey, newMediaKey, recordKey, renditionKey } from '@echodrop/object-store/object-keys';
import { encodeStoredRecord } from '@echodrop/record';
import { listingEntryOf, listingKeys } from './listing-keys.ts';
import type { Owner } from './owner.ts';
import { sampleRecord } from './publish-sample.fixture.ts';

/** Uploads of one owner, spread evenly over 1,000 days. */
export interface Uploads extends Owner {
  readonly count: number;
}

// ext4 allows 65,000 names of a file.
const maxNames = 60_000;
const maxFolders = 10_000;
const firstDay = Date.UTC(2023, 0, 1);
const periodMs = 1000 * 86_400_000;
// No sweep expects changes of what is so old.
const monthAgo = new Date(Date.now() - 30 * 86_400_000);
const pictures = ['mini', 'thumb', 'small', 'medium', 'large', 'full', 'film'];

/**
 * Writes uploads into the folder of a filesystem store: media of five bytes, record, seven renditions and listing entries. Only records are
 * files of their own, and nothing is synced, so that it writes thousands of uploads a second.
 */
export function fillFolder(folder: string, owners: Iterable<Uploads>): void {
  const folders = new Folders(folder);
  const media = new ManyNames(folders, 'media');
  const empty = new ManyNames(folders, '');
  for (const { count, provider, subject } of owners) {
    for (let n = 0; n < count; n += 1) {
      const mediaKey = newMediaKey();
      const path = media.add(mediaObjectKey(mediaKey));
      const { size, etag } = storedObject('', lstatSync(path, { bigint: true }));
      const timestamp = new Date(firstDay + Math.floor((n * periodMs) / count));
      const record = sampleRecord({ mediaKey, etag, size, provider, subject, timestamp });
      for (const name of pictures) media.add(renditionKey(mediaKey, { name, version: 4, extension: 'jpg' }));
      writeOldFile(folders.pathOf(recordKey(record.id)), encodeStoredRecord(record));
      for (const key of listingKeys(listingEntryOf(record))) empty.add(key);
    }
  }
}

function writeOldFile(path: string, content: Buffer | string): void {
  writeFileSync(path, content);
  utimesSync(path, monthAgo, monthAgo);
}

/** Makes the folders of keys. */
class Folders {
  readonly #objects: string;
  readonly #made = new Set<string>();

  constructor(folder: string) {
    this.#objects = join(folder, 'objects');
  }

  pathOf(key: string): string {
    const path = join(this.#objects, key);
    const parent = dirname(path);
    if (!this.#made.has(parent)) mkdirSync(parent, { recursive: true });
    if (this.#made.size > maxFolders) this.#made.clear();
    this.#made.add(parent);
    return path;
  }
}

/** A file with many names. */
class ManyNames {
  readonly #folders: Folders;
  readonly #content: string;
  #path = '';
  #names = maxNames;

  constructor(folders: Folders, content: string) {
    this.#folders = folders;
    this.#content = content;
  }

  /** @returns the path of `key` */
  add(key: string): string {
    const path = this.#folders.pathOf(key);
    if (this.#names < maxNames) linkSync(this.#path, path);
    else [this.#path, this.#names] = [path, 0];
    if (this.#names === 0) writeOldFile(path, this.#content);
    this.#names += 1;
    return path;
  }
}

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { type KeyPage, type ListedObject, type ListPage, maxListLength } from '../object-store.ts';
import { fromStore } from '../store-body.ts';
import { DirectoryWalks, type WalkRange } from './directory-walks.ts';
import { storedObject } from './stored-file.ts';

/** Lists the objects in a directory. @throws StoreUnavailable */
export class DirectoryLists {
  readonly #directory: string;
  readonly #walks: DirectoryWalks;

  constructor(directory: string) {
    this.#directory = directory;
    this.#walks = new DirectoryWalks(directory);
  }

  /** `ObjectStore.list`. */
  async list(prefix: string, page: ListPage): Promise<ListedObject[]> {
    const limit = Math.min(page.limit, maxListLength);
    const range = { prefix, after: page.after ?? '' };
    const walk = this.#walks.resume(range);
    const found: ListedObject[] = [];
    while (found.length < limit) {
      const keys = await take(walk, limit - found.length);
      if (keys.length === 0) return found;
      const listed = await Promise.all(keys.map((key) => this.#listedObject(key)));
      found.push(...listed.filter((object) => object !== undefined));
    }
    this.#pause(range, found.at(-1)?.key, limit, walk);
    return found;
  }

  /** `ObjectStore.listKeys`. */
  async listKeys(prefix: string, page: KeyPage): Promise<string[]> {
    const limit = Math.min(page.limit, maxListLength);
    const range = { prefix, after: page.after ?? '', folders: page.folders };
    const walk = this.#walks.resume(range);
    const keys = await take(walk, limit);
    if (keys.length === limit) this.#pause(range, keys.at(-1), limit, walk);
    return keys;
  }

  // Only a full page has a successor.
  #pause(range: WalkRange, after: string | undefined, limit: number, walk: AsyncGenerator<string>): void {
    if (after !== undefined && limit === maxListLength) this.#walks.pause({ ...range, after }, walk);
  }

  async #listedObject(key: string): Promise<ListedObject | undefined> {
    const stats = await fromStore(lstat(join(this.#directory, key), { bigint: true }), 'ENOENT', 'ENOTDIR');
    return stats?.isFile() ? { ...storedObject(key, stats), writtenAt: stats.mtime } : undefined;
  }
}

async function take(walk: AsyncGenerator<string>, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { value, done } = await walk.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

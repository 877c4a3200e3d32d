import type { Dirent } from 'node:fs';
import { opendir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { fromStore } from '../store-body.ts';
import { NameRuns } from './name-runs.ts';

type Walk = AsyncGenerator<string>;

/** What a walk visits. */
export interface WalkRange {
  readonly prefix: string;
  /** Starts after this key. If it is a folder, a walk of `folders` starts after the whole folder. */
  readonly after: string;
  /** Yields folders in place of the files below them. */
  readonly folders?: boolean | undefined;
}

const pausedMs = 60_000;
const maxPaused = 4;
// Each open directory has a buffer for so many, of 16 bytes each.
const namesPerRead = 512;

/** Walks through a directory's files, paused between pages of a list. Otherwise each page would read the directory. */
export class DirectoryWalks {
  readonly #root: string;
  readonly #namesPerRun: number | undefined;
  readonly #paused = new LRUCache<string, Walk>({ max: maxPaused, ttl: pausedMs, ttlAutopurge: true });

  constructor(root: string, namesPerRun?: number) {
    this.#root = root;
    this.#namesPerRun = namesPerRun;
  }

  /** The regular files of `range`, in key order. Files of the last minute may be missing. */
  resume(range: WalkRange): Walk {
    const position = positionOf(range);
    const paused = this.#paused.get(position);
    this.#paused.delete(position);
    return paused ?? this.#walk(range);
  }

  /** Keeps a walk that ended at the key `range.after`. */
  pause(range: WalkRange, walk: Walk): void {
    this.#paused.set(positionOf(range), walk);
  }

  // In the byte order of their paths, as S3 lists keys: a folder sorts as its name with a slash. Skips folders that come before `after`.
  async *#walk({ prefix, after, folders = false }: WalkRange): Walk {
    const rest = after.startsWith(prefix) ? after.slice(prefix.length) : after < prefix ? '' : undefined;
    if (rest === undefined) return;
    const isBegun = (name: string) => !folders && name.endsWith('/') && rest.startsWith(name);
    const isNext = (name: string) => name > rest || isBegun(name);
    for (const name of (await fromStore(this.#namesIn(prefix, isNext))).sorted()) {
      const path = `${prefix}${name}`;
      if (name.endsWith('/') && !folders) yield* this.#walk({ prefix: path, after });
      else yield path;
    }
  }

  /** The names for which `isNext` is true. A folder's name ends with a slash. */
  async #namesIn(prefix: string, isNext: (name: string) => boolean): Promise<NameRuns> {
    const names = new NameRuns(this.#namesPerRun);
    for await (const entry of await this.#entriesOf(prefix)) {
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const name = entry.isDirectory() ? `${entry.name}/` : entry.name;
      if (isNext(name)) names.add(name);
    }
    return names;
  }

  // One call reads a directory whole. Only those right below the root have millions of entries.
  async #entriesOf(prefix: string): Promise<AsyncIterable<Dirent> | Iterable<Dirent>> {
    const path = join(this.#root, prefix);
    const isLarge = prefix.indexOf('/') === prefix.length - 1;
    const reading = isLarge ? opendir(path, { bufferSize: namesPerRead }) : readdir(path, { withFileTypes: true });
    return (await fromStore<AsyncIterable<Dirent> | Iterable<Dirent>>(reading, 'ENOENT', 'ENOTDIR')) ?? [];
  }
}

function positionOf({ prefix, after, folders }: WalkRange): string {
  return `${prefix}\0${after}\0${folders === true}`;
}

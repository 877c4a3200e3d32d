import { type Dir, type Dirent, opendirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { fromStore } from '../store-body.ts';
import { FirstNames } from './first-names.ts';

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
// Each open directory has a buffer for so many names, of 16 bytes each.
const namesPerRead = 512;
// A name of media has 33 bytes.
const defaultMaxNames = 100_000;
// A larger directory is read several times, at most so often: beyond that, more names are kept.
const maxReadings = 10;

/** Walks through a directory's files, paused between pages of a list. Otherwise each page would read the directory. */
export class DirectoryWalks {
  readonly #root: string;
  readonly #maxNames: number;
  readonly #paused = new LRUCache<string, Walk>({ max: maxPaused, ttl: pausedMs, ttlAutopurge: true });

  constructor(root: string, maxNames = defaultMaxNames) {
    this.#root = root;
    this.#maxNames = maxNames;
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
    let last = rest;
    const isBegun = (name: string) => last === rest && !folders && name.endsWith('/') && rest.startsWith(name);
    const isNext = (name: string) => name > last || isBegun(name);
    for (let max = this.#maxNames, hasAll = false; !hasAll; ) {
      const names = await fromStore(this.#namesIn(prefix, max, isNext), 'ENOENT', 'ENOTDIR');
      if (!names) return;
      for (const name of names.sorted()) {
        const path = `${prefix}${name}`;
        if (name.endsWith('/') && !folders) yield* this.#walk({ prefix: path, after });
        else yield path;
        last = name;
      }
      max = Math.max(max, Math.ceil(names.added / maxReadings));
      hasAll = names.hasAll;
    }
  }

  /** The first names for which `isNext` is true. A folder's name ends with a slash. */
  async #namesIn(prefix: string, max: number, isNext: (name: string) => boolean): Promise<FirstNames> {
    const names = new FirstNames(max);
    const path = join(this.#root, prefix);
    // Only directories right below the root have millions of entries.
    const isLarge = prefix.indexOf('/') === prefix.length - 1;
    for await (const entries of isLarge ? readInParts(path) : [readdir(path, { withFileTypes: true })]) {
      for (const entry of entries) {
        if (!entry.isFile() && !entry.isDirectory()) continue;
        const name = entry.isDirectory() ? `${entry.name}/` : entry.name;
        if (isNext(name)) names.add(name);
      }
    }
    return names;
  }
}

// Synchronous calls take a third of the time. Only commands of operators list large directories.
async function* readInParts(path: string): AsyncGenerator<Dirent[]> {
  const directory = opendirSync(path, { bufferSize: namesPerRead });
  using _closed = { [Symbol.dispose]: () => directory.closeSync() };
  for (let part = readPart(directory); part.length > 0; part = readPart(directory)) {
    yield part;
    await turn();
  }
}

function readPart(directory: Dir): Dirent[] {
  const part: Dirent[] = [];
  while (part.length < namesPerRead) {
    const entry = directory.readSync();
    if (!entry) break;
    part.push(entry);
  }
  return part;
}

function positionOf({ prefix, after, folders }: WalkRange): string {
  return `${prefix}\0${after}\0${folders === true}`;
}

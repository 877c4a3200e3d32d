import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { fromStore } from '../store-body.ts';

type Walk = AsyncGenerator<string>;

const pausedMs = 60_000;
const maxPaused = 4;

/** Walks through a directory's files, paused between pages of a list. Otherwise each page would read the directory. */
export class DirectoryWalks {
  readonly #root: string;
  readonly #paused = new LRUCache<string, Walk>({ max: maxPaused, ttl: pausedMs, ttlAutopurge: true });

  constructor(root: string) {
    this.#root = root;
  }

  /** The files below `prefix` after `after`, in key order. Files of the last minute may be missing. */
  resume(prefix: string, after: string): Walk {
    const position = positionOf(prefix, after);
    const paused = this.#paused.get(position);
    this.#paused.delete(position);
    return paused ?? filesBelow(this.#root, prefix, after);
  }

  /** Keeps a walk whose last file was `at`. */
  pause(prefix: string, at: string, walk: Walk): void {
    this.#paused.set(positionOf(prefix, at), walk);
  }
}

function positionOf(prefix: string, at: string): string {
  return `${prefix}\0${at}`;
}

// In the byte order of their paths, as S3 lists keys: a folder sorts as its name with a slash. Skips folders that come before `after`.
async function* filesBelow(root: string, prefix: string, after: string): Walk {
  for (const path of await sortedPaths(root, prefix)) {
    const isPassed = path <= after && !(path.endsWith('/') && after.startsWith(path));
    if (isPassed) continue;
    if (path.endsWith('/')) yield* filesBelow(root, path, after);
    else yield path;
  }
}

async function sortedPaths(root: string, prefix: string): Promise<string[]> {
  const entries = await fromStore(readdir(join(root, prefix), { withFileTypes: true }), 'ENOENT', 'ENOTDIR');
  return (entries ?? []).map((entry) => `${prefix}${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
}

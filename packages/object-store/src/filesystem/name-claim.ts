import { randomUUID } from 'node:crypto';
import { lstat, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../object-store.ts';
import { fromStore } from '../store-body.ts';

const pauseMs = 10;
// A writer holds its claim for two system calls.
const waitMs = 2000;
const staleMs = 30_000;

/**
 * Keeps other writers away from a name, by a file that only one of them can create. Disposing removes the file. The claim of a process that died
 * ends after 30 s.
 */
export class NameClaim implements AsyncDisposable {
  readonly #path: string;
  readonly #since = performance.now();

  private constructor(path: string) {
    this.#path = path;
  }

  /** Waits at most two seconds for another writer. @throws StoreUnavailable if it still holds the claim */
  static async take(path: string): Promise<NameClaim> {
    const end = performance.now() + waitMs;
    while (!(await create(path))) {
      if (performance.now() < end) await sleep(pauseMs);
      else if (await isStale(path)) await fromStore(unlink(path), 'ENOENT');
      else throw new StoreUnavailable('another write of this object has begun and not ended');
    }
    return new NameClaim(path);
  }

  /** Requires that this writer still has its claim: a suspended writer may have lost it. @throws StoreUnavailable */
  requireFresh(): void {
    if (performance.now() - this.#since > staleMs / 2) throw new StoreUnavailable('this write took too long');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await unlink(this.#path).catch(() => {});
  }
}

async function create(path: string): Promise<boolean> {
  const handle = await fromStore(open(path, 'wx', 0o640), 'EEXIST');
  await handle?.close();
  return handle !== undefined;
}

/** Whether a claim is old by the clock of the file system, which may differ on a network folder. */
async function isStale(path: string): Promise<boolean> {
  const claim = await fromStore(lstat(path), 'ENOENT');
  return claim !== undefined && (await timeIn(dirname(path))) - claim.mtimeMs > staleMs;
}

async function timeIn(directory: string): Promise<number> {
  const path = join(directory, randomUUID());
  await using handle = await fromStore(open(path, 'wx', 0o640));
  const { mtimeMs } = await handle.stat().finally(() => unlink(path));
  return mtimeMs;
}

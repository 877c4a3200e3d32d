import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../object-store.ts';
import { fromStore } from '../store-body.ts';

const idPattern = /^[0-9a-f-]{36}$/;
// Another process may take so long between the creation of the file and its content.
const creationMs = 1000;
const pauseMs = 20;

/**
 * Distinguishes a store's folder from another one at the same path: below a mount point lies the folder of the parent file system, which appears if the
 * mount is lost. The file `store-id` has the id of a folder.
 */
export class FolderIdentity {
  readonly #root: string;
  #id: string | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Makes `folders`, and the id if there is none. @throws StoreUnavailable if the folder is not the one of the first call, or cannot be used */
  async require(folders: readonly string[]): Promise<void> {
    await this.requireSame();
    for (const folder of folders) {
      await fromStore(mkdir(folder, { recursive: true }));
      await fromStore(access(folder, constants.R_OK | constants.W_OK));
    }
    this.#id ??= (await this.#read()) ?? (await this.#create());
  }

  /** Resolves if the folder is the one of the first call of `require`, or before that. @throws StoreUnavailable */
  async requireSame(): Promise<undefined> {
    if (this.#id === undefined || (await this.#read()) === this.#id) return;
    throw new StoreUnavailable(
      `the folder ${this.#root} is another one than before, by its store-id: mount its disk again, or restart the services if this one is right`,
    );
  }

  get #path(): string {
    return join(this.#root, 'store-id');
  }

  /** Undefined if there is none. @throws StoreUnavailable if it has no id */
  async #read(): Promise<string | undefined> {
    const end = performance.now() + creationMs;
    for (;;) {
      const id = await fromStore(readFile(this.#path, 'utf8'), 'ENOENT');
      if (id === undefined || idPattern.test(id)) return id;
      if (performance.now() > end)
        throw new StoreUnavailable(`${this.#path} has no id: remove it, and restart the services`);
      await sleep(pauseMs);
    }
  }

  /** Creates the file. Another process may create it at the same time. Everyone may read it: an operator's command may be the first. */
  async #create(): Promise<string> {
    const created = await fromStore(open(this.#path, 'wx', 0o644), 'EEXIST');
    if (created) {
      await using handle = created;
      try {
        await fromStore(handle.writeFile(randomUUID()));
        await fromStore(handle.sync());
      } catch (error) {
        // On a full disk, an empty file would remain, which an operator would have to remove.
        await unlink(this.#path).catch(() => {});
        throw error;
      }
    }
    const id = await this.#read();
    if (id === undefined) throw new StoreUnavailable(`${this.#path} was removed`);
    return id;
  }
}

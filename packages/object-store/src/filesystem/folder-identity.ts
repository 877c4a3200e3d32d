import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../object-store.ts';
import { fromStore } from '../store-body.ts';

const idPattern = /^[0-9a-f-]{36}$/;

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
    const found = await this.#read();
    if (this.#id !== undefined && found !== this.#id)
      throw new StoreUnavailable(
        `the folder ${this.#root} is another one than before: mount its disk again, or restart the services if this one is right`,
      );
    for (const folder of folders) {
      await fromStore(mkdir(folder, { recursive: true }));
      await fromStore(access(folder, constants.R_OK | constants.W_OK));
    }
    this.#id ??= found ?? (await this.#create());
  }

  get #path(): string {
    return join(this.#root, 'store-id');
  }

  async #read(): Promise<string | undefined> {
    return fromStore(readFile(this.#path, 'utf8'), 'ENOENT');
  }

  /** Another process may create it at the same time. */
  async #create(): Promise<string> {
    await fromStore(writeFile(this.#path, randomUUID(), { flag: 'wx', mode: 0o640 }), 'EEXIST');
    const id = (await this.#read()) ?? '';
    if (!idPattern.test(id)) throw new StoreUnavailable(`${this.#path} has no id: if it stays so, remove it`);
    return id;
  }
}

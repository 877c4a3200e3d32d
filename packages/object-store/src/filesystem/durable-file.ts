import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface FileFacts {
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

/** A file that is being written under a passing name in `directory`; disposing removes that name, whatever became of it. */
export class TemporaryFile implements AsyncDisposable {
  readonly path: string;
  #handle: FileHandle | undefined;

  constructor(directory: string) {
    this.path = join(directory, randomUUID());
  }

  async append(bytes: Buffer): Promise<void> {
    await (await this.#opened()).appendFile(bytes);
  }

  /** When this resolves, what was appended survives a power cut. */
  async sync(): Promise<FileFacts> {
    const handle = await this.#opened();
    // The kernel's own time stamps may be milliseconds coarse; this one tells any two writings apart.
    const now = (performance.timeOrigin + performance.now()) / 1000;
    await handle.utimes(now, now);
    await handle.sync();
    return handle.stat({ bigint: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#handle === undefined) return;
    await this.#handle.close();
    await unlink(this.path).catch(() => {});
  }

  async #opened(): Promise<FileHandle> {
    if (this.#handle === undefined) {
      await mkdir(dirname(this.path), { recursive: true });
      this.#handle = await open(this.path, 'wx', 0o640);
    }
    return this.#handle;
  }
}

/** Makes the name `path` survive a power cut: writes out the directories above it up to `root`, whoever made them. */
export async function syncNames(path: string, root: string): Promise<void> {
  let directory = path;
  do {
    directory = dirname(directory);
    await using handle = await open(directory, 'r');
    await handle.sync();
  } while (directory !== root);
}

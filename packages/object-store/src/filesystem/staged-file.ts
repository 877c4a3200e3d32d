import { randomUUID } from 'node:crypto';
import { access, type FileHandle, lstat, open, opendir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Checksum } from '../checksum.ts';
import { consumeSource } from '../consume-source.ts';
import { StagedWriteLost, StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import type { AppendOptions, StagedWrite } from '../staged-write.ts';
import { fromStore } from '../store-body.ts';
import { type FileStats, syncFile } from './durable-file.ts';

/** The temporary file of a staged write. Disposing closes it. */
export class StagedFile implements AsyncDisposable {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #write: StagedWrite;

  private constructor(path: string, handle: FileHandle, write: StagedWrite) {
    this.path = path;
    this.#handle = handle;
    this.#write = write;
  }

  /** Opens the file in `directory`. @throws StagedWriteLost if it is missing or has fewer bytes, unless the write has no bytes yet */
  static async open(directory: string, write: StagedWrite): Promise<StagedFile> {
    const { id = randomUUID(), size } = write;
    const path = temporaryPath(directory, id);
    const opened = path && (await fromStore(open(path, size === 0 ? 'w+' : 'r+', 0o640), 'ENOENT'));
    if (!opened) {
      await fromStore(access(directory));
      throw new StagedWriteLost('the file of this write no longer exists');
    }
    await using held = new AsyncDisposableStack();
    held.use(opened);
    // A write behind the end, or a cut there, would make the file as large as the state says.
    if ((await fromStore(opened.stat())).size < size) throw new StagedWriteLost('the file of this write is shorter');
    held.move();
    return new StagedFile(path, opened, { ...write, id });
  }

  /** Writes the bytes of `source` after those of the write, and saves the state after every 8 MiB and at the end. */
  async append(source: Readable, { save, verify, ...options }: AppendOptions): Promise<void> {
    const write = this.#write;
    const checksum = new Checksum(write.crc32);
    let size = write.size;
    let saved = write.size;
    let isNamed = write.size > 0;
    const keep = async () => {
      if (size === saved) return;
      await fromStore(syncFile(this.#handle));
      isNamed = true;
      await save({ ...write, size, crc32: checksum.hex });
      saved = size;
    };
    const take = async (chunk: Buffer) => {
      const { bytesWritten } = await fromStore(this.#handle.write(chunk, 0, chunk.length, size));
      if (bytesWritten !== chunk.length) throw new StoreUnavailable(`${bytesWritten} of ${chunk.length} bytes on disk`);
      checksum.add(chunk);
      size += chunk.length;
      if (!verify && size - saved >= partBytes) await keep();
    };
    // No state names the file, not even one whose save has failed.
    const dropUnnamed = async () => {
      if (!isNamed) await rm(this.path, { force: true }).catch(() => {});
    };
    try {
      await consumeSource(source, options, take);
      verify?.();
    } catch (error) {
      // What arrived before a lost connection is kept.
      if (!verify && !(error instanceof StoreUnavailable)) await keep().catch(() => {});
      await dropUnnamed();
      throw error;
    }
    await keep();
    await dropUnnamed();
  }

  /**
   * Cuts off what was written after the last saved state, and reads the rest: a writer that was suspended may have changed it since.
   * @throws StagedWriteLost if it differs from the state
   */
  async finish(): Promise<FileStats> {
    const { size, crc32 } = this.#write;
    await fromStore(this.#handle.truncate(size));
    if ((await fromStore(checksumOf(this.#handle))) !== crc32)
      throw new StagedWriteLost('the bytes of this write differ from their checksum');
    return fromStore(syncFile(this.#handle));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** The files of unfinished writes. */
export async function* listTemporaryFiles(directory: string): AsyncGenerator<UnfinishedWrite> {
  for await (const { name: id } of (await fromStore(opendir(directory), 'ENOENT')) ?? []) {
    const stats = await fromStore(lstat(join(directory, id)), 'ENOENT');
    if (stats?.isFile()) yield { id, writtenAt: stats.mtime, size: stats.size };
  }
}

/** Removes the file of an unfinished write, if there is one. */
export async function removeTemporaryFile(directory: string, id: string): Promise<void> {
  const path = temporaryPath(directory, id);
  if (path !== undefined) await fromStore(unlink(path), 'ENOENT');
}

/** The file of an unfinished write; undefined for an id that no write of this store has. */
function temporaryPath(directory: string, id: string): string | undefined {
  return ['', '.', '..'].includes(id) || id.includes('/') ? undefined : join(directory, id);
}

async function checksumOf(handle: FileHandle): Promise<string> {
  const checksum = new Checksum();
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) checksum.add(chunk);
  return checksum.hex;
}

import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { Checksum } from '../checksum.ts';
import { consumeSource } from '../consume-source.ts';
import { StagedWriteLost, StoreUnavailable } from '../object-store.ts';
import { partBytes } from '../part-memory.ts';
import type { AppendOptions, StagedWrite } from '../staged-write.ts';
import { fromStore } from '../store-body.ts';
import { type FileStats, syncFile } from './durable-file.ts';

/** The temporary file of a staged write. Disposing closes it. */
export class StagedFile implements AsyncDisposable {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** @throws StagedWriteLost if it is missing, unless the write has no bytes yet */
  static async open(path: string, { size }: StagedWrite): Promise<StagedFile> {
    await fromStore(mkdir(dirname(path), { recursive: true }));
    const opened = await fromStore(open(path, size === 0 ? 'w+' : 'r+', 0o640), 'ENOENT');
    if (opened === undefined) throw new StagedWriteLost('the file of this write no longer exists');
    return new StagedFile(opened);
  }

  /** Writes the bytes of `source` after those of `write`, and saves the state after every 8 MiB and at the end. */
  async append(write: StagedWrite, source: Readable, { signal, save, verify }: AppendOptions): Promise<void> {
    const checksum = new Checksum(write.crc32);
    let [size, saved] = [write.size, write.size];
    const keep = async () => {
      if (size === saved) return;
      await fromStore(syncFile(this.#handle));
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
    try {
      await consumeSource(source, signal, take);
    } catch (error) {
      // Of a lost connection, what has arrived.
      if (!verify && !(error instanceof StoreUnavailable)) await keep().catch(() => {});
      throw error;
    }
    verify?.();
    await keep();
  }

  /**
   * Cuts off what was written after the last saved state, and reads the rest: a writer that was suspended may have changed it since.
   * @throws StagedWriteLost if it differs from the state
   */
  async finish({ size, crc32 }: StagedWrite): Promise<FileStats> {
    await fromStore(this.#handle.truncate(size));
    const checksum = new Checksum();
    for await (const chunk of this.#handle.createReadStream({ start: 0, autoClose: false })) checksum.add(chunk);
    if (checksum.hex !== crc32) throw new StagedWriteLost('the bytes of this write differ from their checksum');
    return fromStore(syncFile(this.#handle));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

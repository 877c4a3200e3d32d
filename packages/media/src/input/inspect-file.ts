import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { SourceReader } from './source-reader.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const headBytes = 16 * 1024;

/**
 * Runs the probe's readers on a local file. The caller limits the time.
 * @throws if the file cannot be read, or what `inspect` throws
 */
export async function inspectFile<T>(path: string, inspect: (reader: SourceReader) => Promise<T>): Promise<T> {
  // A tool that has read the file may have replaced it by a link or a FIFO.
  await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return await inspect(await fileReader(file));
}

/** Reads ranges of an open file. */
export async function fileReader(file: FileHandle): Promise<SourceReader> {
  const { size } = await file.stat();
  const read = async (offset: number, length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  };
  const head = await read(0, Math.min(size, headBytes));
  return new SourceReader({ size, head, read }, new AbortController().signal);
}

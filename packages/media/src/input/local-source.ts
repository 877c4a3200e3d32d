import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { SourceReader } from './source-reader.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const headBytes = 16 * 1024;

/**
 * Looks at media that lies on this machine with the code of the probe. Rejects with what `look` rejects with, or where
 * the file cannot be read; whoever waits bounds the time.
 */
export async function lookAtFile<T>(path: string, look: (reader: SourceReader) => Promise<T>): Promise<T> {
  // A tool that has read it before may have put a link or a FIFO in its place.
  await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const { size } = await file.stat();
  const read = async (offset: number, length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  };
  const source = { size, head: await read(0, Math.min(size, headBytes)), read };
  return await look(new SourceReader(source, new AbortController().signal));
}

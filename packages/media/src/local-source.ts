import { open } from 'node:fs/promises';
import { SourceReader } from './source-reader.ts';

const headBytes = 16 * 1024;

/**
 * Looks at media that lies on this machine with the code of the probe. Rejects with what `look` rejects with, or where
 * the file cannot be read; whoever waits bounds the time.
 */
export async function lookAtFile<T>(path: string, look: (reader: SourceReader) => Promise<T>): Promise<T> {
  await using file = await open(path);
  const { size } = await file.stat();
  const read = async (offset: number, length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  };
  const source = { size, head: await read(0, Math.min(size, headBytes)), read };
  return await look(new SourceReader(source, new AbortController().signal));
}

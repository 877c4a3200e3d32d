import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleVideo } from '../samples/sample-media.ts';
import type { Canary } from './hostile-sample.ts';

/** A video file and a local server that detect any access. */
export interface WatchedCanary extends Canary, AsyncDisposable {
  /** What has been accessed since the start. */
  readonly touched: () => Promise<readonly ('file' | 'server')[]>;
}

const longAgo = new Date('2001-01-01T00:00:00Z');

/**
 * Creates both. The access time of the file shows whether it was read.
 * @throws Error if the file system does not update access times
 */
export async function startCanary(): Promise<WatchedCanary> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-canary-'));
  const file = join(folder, 'canary.ts');
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n').on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const isRead = async () => (await stat(file)).atime.getTime() !== longAgo.getTime();
  await writeFile(file, await sampleVideo('ts', { width: 246, height: 66 }));
  await utimes(file, longAgo, new Date());
  await readFile(file);
  if (!(await isRead())) throw new Error(`${folder}: this file system does not update access times`);
  await utimes(file, longAgo, new Date());
  return {
    file,
    address: `http://127.0.0.1:${port}`,
    touched: async () => [
      ...((await isRead()) ? (['file'] as const) : []),
      ...(connections > 0 ? (['server'] as const) : []),
    ],
    async [Symbol.asyncDispose]() {
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}

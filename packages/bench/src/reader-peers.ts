import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { nginx, startNginx } from '@echodrop/testkit/servers/start-nginx';
import { startProxy } from '@echodrop/testkit/servers/start-proxy';
import { accepts, type SharedServers } from './shared-servers.ts';

interface Peer {
  readonly origin: string;
  readonly pid: number;
}

export interface ReaderPeers extends AsyncDisposable {
  readonly express: Peer;
  /** Nginx with the files, and Compose's proxy before the site, if nginx is installed. */
  readonly nginx?: Peer;
  readonly proxy?: Peer;
}

/** Starts peers that serve files, by name. */
export async function startReaderPeers(
  shared: SharedServers,
  site: string,
  files: Readonly<Record<string, Buffer>>,
): Promise<ReaderPeers> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await mkdtempDisposable(join(shared.folder, 'files-'))).path;
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  const port = await freePort();
  const express = resources.use(
    await ServerProcess.start({
      command: shared.silently([join(import.meta.dirname, 'stand-ins/static-server.ts')]),
      env: { NODE_ENV: 'production', PORT: `${port}`, FILES: folder },
      isReady: () => accepts(port),
    }),
  );
  const directives = `sendfile on; tcp_nopush on; location /files/ { alias ${folder}/; }`;
  const peers = {
    express: { origin: `http://127.0.0.1:${port}`, pid: express.pid ?? 0 },
    ...(nginx && {
      nginx: resources.use(await startNginx(site, { directives })),
      proxy: resources.use(await startProxy(site)),
    }),
  };
  const disposables = resources.move();
  return { ...peers, [Symbol.asyncDispose]: () => disposables.disposeAsync() };
}

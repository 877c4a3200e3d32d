import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import type { Bucket } from './stand-ins/stored-objects.ts';

/** What all systems share and is not measured: the store and the identity provider, each in its own process. */
export interface SharedServers extends AsyncDisposable {
  /** For the bench's own files. */
  readonly folder: string;
  /** The environment of every measured process. */
  readonly env: Readonly<Record<string, string>>;
  readonly identityProviders: string;
  readonly newBucket: (name: string) => string;
  /** The objects of a bucket and its calls since the last time. */
  readonly take: (bucket: string) => Promise<ReturnType<Bucket['take']>>;
  /** A command that runs this Node and discards its output. */
  readonly silently: (args: readonly string[]) => [string, ...string[]];
}

export async function startSharedServers(folder: string): Promise<SharedServers> {
  await using resources = new AsyncDisposableStack();
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  resources.use(
    await ServerProcess.start({
      command: [process.execPath, join(import.meta.dirname, 'stand-ins/null-s3.ts')],
      env: { PORT: `${port}` },
      isReady: () => accepts(port),
    }),
  );
  const provider = fork(join(import.meta.dirname, 'stand-ins/identity-stub.ts'));
  resources.defer(() => void provider.kill('SIGKILL'));
  const [identityProviders] = await once(provider, 'message');
  let buckets = 0;
  const disposables = resources.move();
  return {
    folder,
    env: {
      NODE_ENV: 'production',
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY: 'bench-access-key',
      S3_SECRET_KEY: 'bench-secret-key',
    },
    identityProviders,
    newBucket: (name) => `${name}-${++buckets}`,
    take: async (bucket) =>
      (await fetch(`${endpoint}/-/take/${bucket}`, { method: 'POST' })).json() as Promise<ReturnType<Bucket['take']>>,
    silently: (args) => ['sh', '-c', 'exec "$0" "$@" >/dev/null', process.execPath, ...args],
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  };
}

/** Whether a process listens on a port of this machine. @throws the error of the connection if none does */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect').finally(() => socket.destroy());
  return true;
}

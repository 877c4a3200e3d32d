import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHabitProxy } from '@echodrop/object-store/habit-proxy.fixture';
import { freePort } from '@echodrop/testkit/free-ports';
import { patientSignal } from '@echodrop/testkit/patience';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { keys, type StoreKind } from './store-kind.ts';

/** A store of a test. */
export interface RunningStore extends AsyncDisposable {
  readonly server: ServerProcess;
  readonly bucket: { readonly endpoint: string; readonly region: string; readonly bucket: string } & typeof keys;
  /** The settings of services for its bucket, which does not exist yet. */
  readonly settings: Record<string, string>;
}

/** Starts a store on a free port, with a folder of its own. Disposing stops it, and removes the folder. @throws Error if it does not respond */
export async function startStore(kind: StoreKind, command: readonly [string, ...string[]]): Promise<RunningStore> {
  await using parts = new AsyncDisposableStack();
  const { path: folder } = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-store-')));
  const port = await freePort();
  const { args, env } = await kind.prepare({ port, folder });
  const address = `http://127.0.0.1:${port}`;
  const server = parts.use(
    await ServerProcess.start({
      command: [...command, ...args],
      ...(env && { env }),
      isReady: () => responds(address),
    }),
  );
  const region = kind.region ?? 'us-east-1';
  const proxy = kind.habits && parts.use(await startHabitProxy({ endpoint: address, region, ...keys }, kind.habits));
  const endpoint = proxy?.endpoint ?? address;
  const bucket = { endpoint, region, bucket: 'echodrop-test', ...keys };
  const held = parts.move();
  return {
    server,
    bucket,
    settings: {
      OBJECT_STORE: 's3',
      S3_ENDPOINT: endpoint,
      S3_REGION: region,
      S3_BUCKET: bucket.bucket,
      S3_ACCESS_KEY: keys.accessKey,
      S3_SECRET_KEY: keys.secretKey,
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

// Stores respond to unsigned requests with 200, 403 or 404 once they serve.
async function responds(address: string): Promise<boolean> {
  const response = await fetch(address, { signal: patientSignal() });
  await response.body?.cancel();
  return response.status < 500;
}

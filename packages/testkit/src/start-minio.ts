import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-ports.ts';
import { findMinio, type MinioSource } from './minio-source.ts';
import { ServerProcess, type StoppableServer } from './server-process.ts';

/** A MinIO for a test, with a bucket name that nobody else has; the bucket itself is still to be made. */
export interface RunningMinio extends AsyncDisposable {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** For hanging and killing it; undefined where the MinIO is not ours to stop (S3_ENDPOINT is given). */
  readonly server: StoppableServer | undefined;
  /** All of it as the settings that services read. */
  readonly settings: Record<string, string>;
}

const login = { user: 'echodrop-test', password: 'echodrop-test-secret' };

/**
 * Starts a MinIO of its own for the caller, or takes the one that is given. Disposing ends what was started.
 * @throws Error where there is none to be had
 */
export async function startMinio(source?: MinioSource): Promise<RunningMinio> {
  const found = source ?? (await findMinio());
  switch (found?.kind) {
    case 'given':
      return described(found.endpoint, found.accessKey, found.secretKey, undefined);
    case 'container': {
      const { startMinioContainer } = await import('./minio-container.ts');
      const { endpoint, server } = await startMinioContainer(login, serves);
      return described(endpoint, login.user, login.password, server);
    }
    case 'program': {
      const { endpoint, server } = await startProgram(found.path);
      return described(endpoint, login.user, login.password, server);
    }
    default:
      throw new Error('this test needs MinIO: give S3_ENDPOINT, a Docker engine, MINIO_BIN, or minio in PATH');
  }
}

async function startProgram(path: string) {
  const directory = await mkdtemp(join(tmpdir(), 'echodrop-minio-'));
  const address = `127.0.0.1:${await freePort()}`;
  const endpoint = `http://${address}`;
  const process = await ServerProcess.start({
    command: [path, 'server', directory, '--address', address, '--quiet'],
    env: { MINIO_ROOT_USER: login.user, MINIO_ROOT_PASSWORD: login.password, MINIO_BROWSER: 'off' },
    answers: () => serves(endpoint),
  });
  const server: StoppableServer & AsyncDisposable = {
    freeze: () => process.freeze(),
    thaw: () => process.thaw(),
    kill: () => process.kill(),
    restart: () => process.restart(),
    async [Symbol.asyncDispose]() {
      await process.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return { endpoint, server };
}

// MinIO is alive before it serves: until then it answers 503 to everybody, and afterwards 403 to whoever has not signed.
async function serves(endpoint: string): Promise<boolean> {
  const answer = await fetch(endpoint, { signal: AbortSignal.timeout(1000) });
  await answer.body?.cancel();
  return answer.status === 403;
}

function described(
  endpoint: string,
  accessKey: string,
  secretKey: string,
  server: (StoppableServer & AsyncDisposable) | undefined,
): RunningMinio {
  const region = 'us-east-1';
  const bucket = `echodrop-test-${randomBytes(6).toString('hex')}`;
  return {
    endpoint,
    region,
    bucket,
    accessKey,
    secretKey,
    server,
    settings: {
      OBJECT_STORE: 'minio',
      S3_ENDPOINT: endpoint,
      S3_REGION: region,
      S3_BUCKET: bucket,
      S3_ACCESS_KEY: accessKey,
      S3_SECRET_KEY: secretKey,
    },
    async [Symbol.asyncDispose]() {
      await server?.[Symbol.asyncDispose]();
    },
  };
}

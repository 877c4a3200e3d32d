import { randomBytes } from 'node:crypto';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, freePorts } from '../free-ports.ts';
import { patientSignal } from '../patience.ts';
import { runFolder } from '../samples/made-once.ts';
import { waitUntil } from '../wait-until.ts';
import { findMinio, type MinioSource } from './minio-source.ts';
import { ServerProcess, type StoppableServer } from './server-process.ts';

/** A MinIO for a test, with a unique bucket name; the caller creates the bucket. */
export interface RunningMinio extends AsyncDisposable {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** To freeze and kill it; undefined if several tests share it. */
  readonly server: StoppableServer | undefined;
  /** The settings of services for this MinIO. */
  readonly settings: Record<string, string>;
}

// The maintained fork of MinIO, with the same API and variables (docs/why/dependencies.md, "MinIO, the server").
const image = 'docker.io/pgsty/silo:RELEASE.2026-09-03T13-18-01Z';
const region = 'us-east-1';
const login = { accessKey: 'echodrop-test', secretKey: 'echodrop-test-secret' };
const rootSettings: Record<string, string> = { MINIO_ROOT_USER: login.accessKey, MINIO_ROOT_PASSWORD: login.secretKey };

/**
 * Starts a MinIO, which ends when it is disposed of.
 * @throws Error if there is none
 */
export async function startMinio(source?: MinioSource): Promise<RunningMinio> {
  const found = source ?? (await findMinio());
  switch (found?.kind) {
    case 'container': {
      const { startContainer } = await import('./stoppable-container.ts');
      const isReady = (host: string, port: number) => serves(`http://${host}:${port}`);
      const command = ['server', '/data'];
      const server = await startContainer({ image, command, env: rootSettings, port: 9000, isReady });
      return described(`http://${server.host}:${server.port}`, server, server);
    }
    case 'program': {
      const started = await startAlone(found.path, rootSettings);
      return described(started.endpoint, started.server, started);
    }
    default:
      throw new Error('this test needs MinIO: set MINIO_BIN, or provide Docker or minio in PATH');
  }
}

let shared: ReturnType<typeof startAlone> | undefined;

/**
 * As `startMinio`, for tests that do not stop it: those of a process share a MinIO program, each `start` with its own bucket.
 * It ends with the process, and its drive is removed with the folder of the run.
 */
export async function shareMinio(source?: MinioSource): Promise<RunningMinio> {
  if (source?.kind !== 'program') return startMinio(source);
  shared ??= startAlone(source.path, rootSettings, process.env[runFolder]).catch((error: Error) => {
    shared = undefined;
    throw error;
  });
  return described((await shared).endpoint);
}

/** Starts a MinIO program that encrypts what it stores: its tags look like MD5s, and are none. */
export async function startEncryptedMinio(path: string): Promise<RunningMinio> {
  const key = `test:${randomBytes(32).toString('base64')}`;
  const settings = { ...rootSettings, MINIO_KMS_SECRET_KEY: key, MINIO_KMS_AUTO_ENCRYPTION: 'on' };
  const started = await startAlone(path, settings);
  return described(started.endpoint, started.server, started);
}

/** Files with a user name and a password. */
interface LoginFiles {
  readonly user: string;
  readonly password: string;
}

/** A MinIO program that reads its root keys from files at each start. */
export interface MinioOfFiles extends AsyncDisposable {
  readonly endpoint: string;
  readonly region: string;
  readonly server: StoppableServer;
}

export async function startMinioOfFiles(path: string, { user, password }: LoginFiles): Promise<MinioOfFiles> {
  const root = { MINIO_ROOT_USER_FILE: user, MINIO_ROOT_PASSWORD_FILE: password };
  return { ...(await startAlone(path, root)), region };
}

async function startAlone(path: string, root: Record<string, string>, disk = tmpdir()) {
  await using parts = new AsyncDisposableStack();
  const { path: drive } = parts.use(await mkdtempDisposable(join(disk, 'echodrop-minio-')));
  const started = await startProgram(path, await freePort(), [drive], root);
  parts.use(started.server);
  const held = parts.move();
  return { ...started, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** Four nodes of one store, each with a drive. Each node serves the whole store; writes need three. */
export interface MinioSet extends AsyncDisposable {
  readonly nodes: readonly (RunningMinio & { readonly server: StoppableServer })[];
}

/** Starts four nodes of the MinIO program at `path`, with their drives below `disk`. */
export async function startMinioSet(path: string, disk = tmpdir()): Promise<MinioSet> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(disk, 'echodrop-minio-'))).path;
  const ports = Object.values(await freePorts(['1', '2', '3', '4']));
  const drives = ports.map((port) => `http://127.0.0.1:${port}${folder}/drive-${port}`);
  const started = await Promise.all(
    ports.map(async (port) => {
      const { endpoint, server } = await startProgram(path, port, drives);
      parts.use(server);
      await waitUntil('a quorum', () => hasQuorum(endpoint));
      return { endpoint, server };
    }),
  );
  const bucket = newBucket();
  const held = parts.move();
  const nodes = started.map(({ endpoint, server }) => ({
    ...described(endpoint, server, undefined, bucket),
    server,
  }));
  return { nodes, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

async function startProgram(path: string, port: number, drives: readonly string[], root = rootSettings) {
  const address = `127.0.0.1:${port}`;
  const endpoint = `http://${address}`;
  const server = await ServerProcess.start({
    command: [path, 'server', ...drives, '--address', address, '--quiet'],
    env: {
      ...root,
      MINIO_BROWSER: 'off',
      // Allows all drives of a set on one disk.
      MINIO_CI_CD: '1',
      // In a container, it would otherwise wait until its address is not loopback.
      _MINIO_SERVER_LOCAL: address,
    },
    isReady: () => serves(endpoint),
  });
  return { endpoint, server };
}

// MinIO responds with 503 until it serves, then with 403 to unsigned requests.
async function serves(endpoint: string): Promise<boolean> {
  const response = await fetch(endpoint, { signal: patientSignal() });
  await response.body?.cancel();
  return response.status === 403;
}

async function hasQuorum(endpoint: string): Promise<boolean> {
  const response = await fetch(`${endpoint}/minio/health/cluster`, { signal: patientSignal() });
  await response.body?.cancel();
  return response.ok;
}

function newBucket(): string {
  return `echodrop-test-${randomBytes(6).toString('hex')}`;
}

function described(
  endpoint: string,
  server?: StoppableServer,
  owned?: AsyncDisposable,
  bucket = newBucket(),
): RunningMinio {
  return {
    endpoint,
    region,
    bucket,
    ...login,
    server,
    settings: {
      OBJECT_STORE: 's3',
      S3_ENDPOINT: endpoint,
      S3_REGION: region,
      S3_BUCKET: bucket,
      S3_ACCESS_KEY: login.accessKey,
      S3_SECRET_KEY: login.secretKey,
    },
    async [Symbol.asyncDispose]() {
      await owned?.[Symbol.asyncDispose]();
    },
  };
}

import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { freePort } from './free-ports.ts';
import type { StoppableServer } from './server-process.ts';
import { waitUntil } from './wait-until.ts';

// The living fork of MinIO: same API, same variables (TRAPS, "MinIO, the server").
const image = 'docker.io/pgsty/silo:RELEASE.2026-09-03T13-18-01Z';
const startMs = 120_000;
const restartMs = 20_000;

interface Login {
  readonly user: string;
  readonly password: string;
}

/** Starts a MinIO in a container; `answers` tells of an endpoint whether it serves. Disposing removes the container. */
export async function startMinioContainer({ user, password }: Login, answers: (endpoint: string) => Promise<boolean>) {
  // A port of the host's that is named stays the same over a restart.
  const host = await freePort();
  const started = await new GenericContainer(image)
    .withEnvironment({ MINIO_ROOT_USER: user, MINIO_ROOT_PASSWORD: password })
    .withCommand(['server', '/data'])
    .withExposedPorts({ container: 9000, host })
    .withWaitStrategy(Wait.forHttp('/minio/health/live', 9000))
    .withStartupTimeout(startMs)
    .start();
  const { container: containers } = await getContainerRuntimeClient();
  const container = containers.getById(started.getId());
  const endpoint = `http://${started.getHost()}:${host}`;
  const serves = () => waitUntil('an answer of the MinIO container', restartMs, () => answers(endpoint));
  const isRunning = async () => (await container.inspect()).State.Running;
  await serves();
  const server: StoppableServer & AsyncDisposable = {
    freeze: () => container.pause(),
    thaw: () => container.unpause(),
    kill: () => container.kill(),
    async restart() {
      if (await isRunning()) await container.kill();
      await container.start();
      await serves();
    },
    async [Symbol.asyncDispose]() {
      await started.stop();
    },
  };
  return { endpoint, server };
}

import { startContainer } from './stoppable-container.ts';

// The living fork of MinIO: same API, same variables (docs/dependencies.md, "MinIO, the server").
const image = 'docker.io/pgsty/silo:RELEASE.2026-09-03T13-18-01Z';

interface Login {
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Starts a MinIO in a container; `isReady` says whether an endpoint serves. Disposing removes the container. */
export async function startMinioContainer(
  { accessKey, secretKey }: Login,
  isReady: (endpoint: string) => Promise<boolean>,
) {
  const server = await startContainer({
    image,
    command: ['server', '/data'],
    env: { MINIO_ROOT_USER: accessKey, MINIO_ROOT_PASSWORD: secretKey },
    port: 9000,
    isReady: (host, port) => isReady(`http://${host}:${port}`),
  });
  return { endpoint: `http://${server.host}:${server.port}`, server };
}

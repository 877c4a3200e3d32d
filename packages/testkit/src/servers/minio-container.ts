import { startContainer } from './stoppable-container.ts';

// The living fork of MinIO: same API, same variables (docs/dependencies.md, "MinIO, the server").
const image = 'docker.io/pgsty/silo:RELEASE.2026-09-03T13-18-01Z';

interface Login {
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Starts a MinIO in a container; `answers` says whether an endpoint serves. Disposing removes the container. */
export async function startMinioContainer(
  { accessKey, secretKey }: Login,
  answers: (endpoint: string) => Promise<boolean>,
) {
  const server = await startContainer({
    image,
    command: ['server', '/data'],
    env: { MINIO_ROOT_USER: accessKey, MINIO_ROOT_PASSWORD: secretKey },
    port: 9000,
    answers: (host, port) => answers(`http://${host}:${port}`),
  });
  return { endpoint: `http://${server.host}:${server.port}`, server };
}

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { expect, test } from 'vitest';
import { minioStore } from './minio-store.fixture.ts';

/** A TCP proxy. `loseConnections` makes the open connections hang, as those to a lost node; new ones work. */
async function startProxy(endpoint: string) {
  const { hostname, port } = new URL(endpoint);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseConnections(): void {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describeWithMinio('connections to a lost node', {}, (start) => {
  test('each request gets through at its second try, although more connections hang than requests wait', async () => {
    await using minio = await start();
    await using proxy = await startProxy(minio.endpoint);
    const deadlines = { writeMs: 2000, tryMs: 500 };
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { deadlines });
    await store.ready();
    const put = (name: string) => store.put(`media/${name}`, Readable.from([Buffer.from(name)]));
    await Promise.all(Array.from({ length: 12 }, (_, n) => put(`before-${n}`)));
    proxy.loseConnections();
    const written = await Promise.all(Array.from({ length: 4 }, (_, n) => put(`after-${n}`)));
    expect(written).toHaveLength(4);
  });
});

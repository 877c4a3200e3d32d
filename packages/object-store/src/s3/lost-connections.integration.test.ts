import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { expect, test } from 'vitest';
import { minioStore } from './minio-store.fixture.ts';
import { RenewedPool } from './renewed-pool.ts';

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

test.each([
  [-1, 3],
  [60_000, 1],
])('with a maximum age of %i ms, three requests take %i connections', async (maxAgeMs, connections) => {
  let opened = 0;
  const server = createHttpServer((_request, response) => response.end()).on('connection', () => {
    opened += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using pool = new RenewedPool(maxAgeMs, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    connections: 1,
  });
  for (let n = 0; n < 3; n += 1)
    await pool.run(async (each) => (await each.request({ method: 'GET', path: '/' })).body.dump());
  server.close();
  expect(opened).toBe(connections);
});

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

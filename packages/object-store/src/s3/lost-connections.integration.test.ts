import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { expect, test } from 'vitest';
import { minioStore, patientDeadlines } from './minio-store.fixture.ts';

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
  test('are not used once they are older than `connectionMs`', async () => {
    await using minio = await start();
    await using proxy = await startProxy(minio.endpoint);
    // Time for one try only.
    const deadlines = { ...patientDeadlines, tryMs: patientDeadlines.writeMs, connectionMs: 300 };
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { deadlines });
    await store.ready();
    const put = (name: string) => store.put(`media/${name}`, Readable.from([Buffer.from(name)]));
    await put('before');
    proxy.loseConnections();
    await sleep(deadlines.connectionMs + 1);
    expect(await put('after')).toMatchObject({ size: 5 });
  });
});

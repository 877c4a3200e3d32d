import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { expect, test } from 'vitest';
import { bytesAt } from '../sources.fixture.ts';
import { minioStore } from './minio-store.fixture.ts';

const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
const hasIpv6 = addresses.some(({ address }) => address === '::1');

describeWithMinio('an endpoint with an IPv6 address', {}, (start) => {
  test('gets requests whose signature names its host', unlessMissing({ 'IPv6 on loopback': hasIpv6 }), async () => {
    await using minio = await start();
    const { hostname, port } = new URL(minio.endpoint);
    const server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on('error', () => {});
    });
    await new Promise<void>((listening) => server.listen(0, '::1', listening));
    await using _server = { [Symbol.asyncDispose]: async () => void server.close() };
    const { port: own } = server.address() as { port: number };
    await using store = minioStore({ ...minio, endpoint: `http://[::1]:${own}` });
    await store.ready();
    await store.put('media/a', Readable.from([Buffer.from('bytes')]));
    expect(`${await bytesAt(store, 'media/a')}`).toBe('bytes');
  });
});

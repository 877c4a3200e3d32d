import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders } from '@echodrop/testkit/upload';
import * as tus from 'tus-js-client';
import { expect, test } from 'vitest';

const MiB = 1024 * 1024;
const size = Number(process.env['RESUMABLE_MIB'] ?? 40) * MiB;
const cutEvery = 10 * MiB;

/** A TCP proxy that resets each connection after ten MiB from the client. It forwards to the first of `ports` that accepts. */
async function startCuttingProxy(ports: readonly number[]): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer(async (client) => {
    client.on('error', () => {});
    for (const port of ports) {
      const target = connect(port, '127.0.0.1').on('error', () => {});
      const isConnected = await once(target, 'connect').then(
        () => true,
        () => false,
      );
      if (!isConnected) continue;
      let sent = 0;
      const cut = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          sent += chunk.length;
          if (sent <= cutEvery) return done(null, chunk);
          client.resetAndDestroy();
          target.resetAndDestroy();
        },
      });
      pipeline(client, cut, target).catch(() => {});
      pipeline(target, client).catch(() => {});
      return;
    }
    client.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, [Symbol.asyncDispose]: async () => void server.close() };
}

test('tus-js-client uploads through a proxy that cuts connections, and a gateway dies meanwhile: one record, with all bytes', async () => {
  await using stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
  await using other = await startStack({ beside: stack, services: ['gateway'] });
  const ports = [stack.gateway, other.gateway].map((origin) => Number(new URL(origin).port));
  await using proxy = await startCuttingProxy(ports);
  const media = Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(size)]);
  const done = Promise.withResolvers<string>();
  let [breaks, hasDied] = [0, false];
  const upload = new tus.Upload(media, {
    endpoint: `${proxy.origin}/files/`,
    chunkSize: 80 * MiB,
    retryDelays: Array.from({ length: 100 }, () => 100),
    metadata: { key: sandbox.apiKey, message: 'over bad connections', filename: 'sea.jpg' },
    onBeforeRequest: (request) => {
      for (const [name, value] of Object.entries(echoHeaders(stack))) request.setHeader(name, value);
    },
    onShouldRetry: () => {
      breaks += 1;
      return true;
    },
    onProgress: (sent) => {
      if (sent < size / 2 || hasDied) return;
      hasDied = true;
      stack.services.gateway.kill().catch(done.reject);
    },
    onAfterResponse: (_request, response) => {
      const address = response.getHeader('Record-Location');
      if (address) done.resolve(address);
    },
    onError: done.reject,
  });
  upload.start();
  const address = await done.promise;
  expect(breaks).toBeGreaterThanOrEqual(Math.floor(size / cutEvery));
  expect(await stack.stored('records')).toEqual([`${address.split('/').at(-1)}.json`]);
  const [key = ''] = await stack.stored('media');
  const stored = await readFile(join(stack.folder, 'store/objects/media', key));
  expect(sha256(stored)).toBe(sha256(media));
}, 300_000);

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startCuttingProxy } from '@echodrop/testkit/servers/cutting-proxy';
import { startSpreadingProxy } from '@echodrop/testkit/servers/spreading-proxy';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TusClient, tusClients } from './clients/tus-clients.ts';

const MiB = 2 ** 20;
// The library sends smaller media as a form.
const size = Number(process.env['RESUMABLE_MIB'] ?? 33) * MiB;

let stack: Stack;
const clients = await Promise.all(
  Object.entries(tusClients).map(async ([name, { needs, find }]) => ({ name, needs, client: await find() })),
);
const uploads = new Map<string, Promise<{ readonly cuts: number; readonly file: string }>>();

// At once: each waits for the lease of a dead gateway.
beforeAll(async () => {
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
  for (const { name, client } of clients) {
    const uploading = client ? uploadWith(name, client) : Promise.reject(new Error('not installed'));
    uploading.catch(() => {});
    uploads.set(name, uploading);
  }
});
afterAll(() => stack?.[Symbol.asyncDispose]());

for (const { name, needs, client } of clients)
  describe(name, unlessMissing(needs ? { [needs]: client !== undefined } : {}), () => {
    test('uploads through a proxy that limits bodies and cuts connections, and a gateway dies meanwhile: one record, with all bytes', {
      timeout: 300_000,
    }, async () => {
      const { cuts, file } = (await uploads.get(name)) ?? expect.fail();
      // Ours sends smaller pieces after a piece that was lost as a whole, and so meets fewer.
      const leastCuts = name === '@echodrop/client' ? 1 : Math.floor(size / (10 * MiB)) - 1;
      expect(cuts).toBeGreaterThanOrEqual(leastCuts);
      const folder = join(stack.folder, 'store/objects');
      const records = await Promise.all(
        (await stack.stored('records')).map(async (each) =>
          JSON.parse(await readFile(join(folder, 'records', each), 'utf8')),
        ),
      );
      const keys = records.filter(({ text }) => text === name).map((record) => record.media_key);
      expect(keys).toHaveLength(1);
      expect(await sha256(join(folder, 'media', keys[0]))).toBe(await sha256(file));
    });
  });

async function uploadWith(name: string, client: TusClient) {
  const file = join(stack.folder, `${name.replaceAll('/', ' ')}.jpg`);
  await writeFile(file, Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(size)]));
  await using other = await startStack({ beside: stack, services: ['gateway'] });
  let death: Promise<void> | undefined;
  const ports = [other, stack].map(({ gateway }) => Number(new URL(gateway).port));
  await using gateways = await startSpreadingProxy(ports);
  await using proxy = await startCuttingProxy(`http://127.0.0.1:${gateways.port}`, (sent) => {
    if (sent > size / 2) death ??= other.services.gateway.kill();
  });
  await client({
    address: `${proxy.origin}/files/`,
    provider: stack.bearerProvider,
    key: sandbox.apiKey,
    file,
    authorization: 'Bearer sandbox-bearer',
    message: name,
  });
  await death;
  return { cuts: proxy.cuts, file };
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

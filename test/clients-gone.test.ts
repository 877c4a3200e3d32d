import { RawClient } from '@echodrop/testkit/raw-client';
import { sampleFilm, samplePhoto } from '@echodrop/testkit/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const queues = ['probe-photos', 'probe-films'];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'] });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

test('a hundred uploads that are aborted in the middle leave no socket, no job and no media', async () => {
  const photo = await samplePhoto('jpg', { width: 32, height: 32 });
  const large = Buffer.concat([photo, Buffer.alloc(12 * 1024 * 1024)]);
  await upload(stack, { media: photo });
  const before = await openFiles();
  const cuts = Array.from({ length: 100 }, (_, i) => [0, 500, 200_000, large.length - 5][i % 4] ?? 0);
  for (const version of [1, 2] as const) {
    await Promise.all(
      cuts.slice(version === 1 ? 0 : 50, version === 1 ? 50 : 100).map((cut) => abortedAfter(version, large, cut)),
    );
  }
  await waitUntil('every socket closed', 10_000, async () => (await openFiles()) <= before);
  await waitUntil('no media but the published', 10_000, async () => (await stack.stored('media')).length === 1);
  for (const queue of queues) expect(await waiting(queue)).toBe(0);
  expect((await upload(stack, { media: photo })).status).toBe(200);
}, 60_000);

test('a client that goes while its media is looked at takes its job back', async () => {
  await stack.services['probe-worker'].freeze();
  const before = (await stack.stored('media')).length;
  const film = await sampleFilm('mp4', { width: 64, height: 48 });
  const { path, headers, body } = uploadRequest(stack, { media: film });
  const client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length);
  await client.flush(body);
  await waitUntil('the media stored', 10_000, async () => (await stack.stored('media')).length > before);
  client.destroy();
  await waitUntil('the media discarded', 10_000, async () => (await stack.stored('media')).length === before);
  await stack.services['probe-worker'].thaw();
  for (const queue of queues) expect(await waiting(queue)).toBe(0);
}, 30_000);

async function abortedAfter(version: 1 | 2, media: Buffer, bytes: number): Promise<void> {
  const { path, headers, body } = uploadRequest(stack, { version, media });
  const client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length);
  await client.flush(body.subarray(0, bytes));
  client.destroy();
}

async function openFiles(): Promise<number> {
  const metrics = await (await fetch(`${stack.ops('gateway')}/metrics`)).text();
  return Number(/^process_open_fds\{[^}]*\} (\d+)/m.exec(metrics)?.[1]);
}

async function waiting(queue: string): Promise<number> {
  return Number(await stack.redis.command('LLEN', `{echodrop}:${queue}:wait`));
}

import { randomUUID } from 'node:crypto';
import { adminOf } from '@echodrop/testkit/admin-of';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { sendTus, tusMetadata } from '@echodrop/testkit/tus-requests';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

const parts = new AsyncDisposableStack();
let stack: Stack;
let media: Buffer;
let jpeg: Buffer;

beforeAll(async () => {
  media = await samplePhoto('png', { width: 64, height: 48 });
  jpeg = await samplePhoto('jpg', { width: 64, height: 48 });
});
afterAll(() => parts.disposeAsync());

type Sent = Promise<{ readonly status: number; readonly text: string }>;

const waysIn: [name: string, send: () => Sent][] = [
  ['version 1', () => upload(stack, { version: 1, media })],
  ['version 2', () => upload(stack, { media })],
  ['a key', () => upload(stack, { media, headers: { ...echoHeaders(stack), 'Idempotency-Key': randomUUID() } })],
  [
    'tus',
    () =>
      sendTus(
        stack,
        'POST',
        '/files/',
        {
          'Upload-Length': `${media.length}`,
          'Upload-Metadata': tusMetadata(),
          'Content-Type': 'application/offset+octet-stream',
        },
        media as RequestInit['body'],
      ),
  ],
];

test.each([
  ['user', 'caller_blocked', () => ['block-user', stack.provider, `${sandbox.userId}`]],
  ['application', 'application_blocked', () => ['block-application', 'echo']],
] as const)('uploads whose %s is blocked during their probe are refused and removed', async (_who, reason, block) => {
  const services = ['sandbox-provider', 'auth-verifier', 'gateway'] as const;
  stack = parts.use(await startStack({ services, settings: { API_KEYS: `echo=${sandbox.apiKey}` } }));
  const waiting = waysIn.map(async ([name, send]) => {
    const { status, text } = await send();
    return [name, status, JSON.parse(text || '{}').errors?.[0].reason];
  });
  await expect.poll(() => stack.stored('media')).toHaveLength(waysIn.length);
  await adminOf(stack, ...block());
  let published = 0;
  // Its probe needs no worker.
  const refused = async () => {
    const { status, text } = await upload(stack, { media: jpeg });
    if (status === 200) published += 1;
    return JSON.parse(text).errors?.[0].reason;
  };
  await expect.poll(refused, { interval: 500 }).toBe(reason);
  parts.use(await startStack({ beside: stack, services: ['probe-worker'] }));
  expect(await Promise.all(waiting)).toEqual(waysIn.map(([name]) => [name, 403, reason]));
  expect(await stack.stored('records')).toHaveLength(published);
  await expect.poll(() => stack.stored('media')).toHaveLength(published);
});

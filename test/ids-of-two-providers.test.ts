import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anotherUser } from '@echodrop/testkit/another-user';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

// The two addresses of the sandbox are two providers that return the same id.
let stack: Stack;
let media: Buffer;

beforeAll(async () => {
  stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway'],
    settings: { UPLOADS_PER_MINUTE_PER_USER: '2' },
  });
  media = await samplePhoto('jpg', { width: 64, height: 48 });
});

afterAll(() => stack[Symbol.asyncDispose]());

const headersOfOther = () => anotherUser(stack);

test('the same id at two providers is two users, each with its own records, keys and limits', async () => {
  const repeated = { 'Idempotency-Key': randomUUID() };
  const responses = [];
  for (const headers of [echoHeaders(stack), headersOfOther(), echoHeaders(stack)])
    responses.push(await upload(stack, { media, headers: { ...headers, ...repeated } }));
  const [first, other, again] = responses.map(({ text }) => JSON.parse(text)) as { id: string; user: unknown }[];
  const fields = ['id', 'text', 'url', 'width', 'height', 'size', 'type', 'timestamp', 'user'];
  expect(Object.keys(first ?? {})).toEqual(fields);
  expect(first?.user).toEqual({ id: 12345, screen_name: 'sandbox' });
  expect(other?.user).toEqual(first?.user);
  expect(other?.id).not.toBe(first?.id);
  expect(again?.id).toBe(first?.id);

  // Both versions count.
  expect((await upload(stack, { version: 1, media })).status).toBe(429);
  expect((await upload(stack, { media, headers: headersOfOther() })).status).toBe(200);
  expect((await upload(stack, { media, headers: headersOfOther() })).status).toBe(429);
});

test('a stored record keeps provider and subject, which the response does not show', async () => {
  const owners = new Set<string>();
  for (const name of await stack.stored('records')) {
    const { id, provider, subject, user } = JSON.parse(
      await readFile(join(stack.folder, 'store/objects/records', name), 'utf8'),
    );
    owners.add(JSON.stringify([provider, subject, user.id]));
    expect(id).toEqual(expect.any(String));
  }
  expect(owners).toEqual(
    new Set([stack.provider, stack.bearerProvider].map((provider) => JSON.stringify([provider, '12345', 12345]))),
  );
});

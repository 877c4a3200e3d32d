import { randomBytes } from 'node:crypto';
import { adminOf } from '@echodrop/testkit/admin-of';
import { anotherUser } from '@echodrop/testkit/another-user';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { createTus, patchTus } from '@echodrop/testkit/tus-requests';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

// The two addresses of the sandbox are two providers that return the same id: the old address of a provider and its new one.
let stack: Stack;
let media: Buffer;

beforeAll(async () => {
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site'] });
  media = Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(1000)]);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const atOld = () => echoHeaders(stack);
const atNew = () => anotherUser(stack);

function send(path: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return fetch(`${stack.gateway}${path}`, { method, headers }).then(({ status }) => status);
}

test('after a hand-over the user of the new address has the uploads, also an unfinished one', async () => {
  const { id } = JSON.parse((await upload(stack, { media })).text);
  const created = await createTus(stack, media.length);
  const path = created.headers.get('location') ?? '';
  expect((await patchTus(stack, path, 0, media.subarray(0, 500))).status).toBe(204);
  expect(await send(`/2/media/${id}.json`, atNew())).toBe(403);

  const { provider, bearerProvider } = stack;
  expect(await adminOf(stack, 'hand-over', provider, bearerProvider, '--yes', '--stopped')).toContain(
    'Handed over 1 uploads, 1 resumable uploads',
  );

  const rest = await patchTus(stack, path, 500, media.subarray(500), atNew());
  expect(rest.status).toBe(204);
  const list = await fetch(`${stack.gateway}/2/media.json`, { headers: atNew() });
  const { media: listed } = (await list.json()) as { media: { id: string }[] };
  expect(listed).toHaveLength(2);
  expect(listed.map((record) => record.id)).toContain(id);
  expect(await send(`/2/media/${id}.json`, atOld())).toBe(403);
  expect((await fetch(`${stack.site}/${id}`)).status).toBe(200);
  expect(await send(`/2/media/${id}`, atOld(), 'DELETE')).toBe(403);
  expect(await send(`/2/media/${id}`, atNew(), 'DELETE')).toBe(204);
  expect(await adminOf(stack, 'verify-store')).toContain(' 0 faults.');
});

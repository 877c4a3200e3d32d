import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

const media = await samplePhoto('jpg', { width: 64, height: 48 });

let system: Stack;
beforeAll(async () => {
  system = await startStack({ services: ['sandbox-provider'] });
});
afterAll(() => system?.[Symbol.asyncDispose]());

/** A gateway with verifiers of its own. */
const gatewayWith = (settings: Record<string, string>, verifiers = 1) =>
  startStack({ beside: system, services: ['auth-verifier', 'gateway'], verifiers, settings });

async function statuses(settings: Record<string, string>, forwardedFor: readonly string[]): Promise<number[]> {
  await using stack = await gatewayWith(settings);
  const proof = echoHeaders(stack);
  const seen = [];
  for (const address of forwardedFor)
    seen.push((await upload(stack, { media, headers: { ...proof, 'X-Forwarded-For': address } })).status);
  return seen;
}

test('a proof may be shown again', async () => {
  expect(await statuses({}, ['192.0.2.1', '198.51.100.7'])).toEqual([200, 200]);
});

test('VERDICT_REUSE=retry: by the same client, whom a trusted proxy names', async () => {
  const settings = { VERDICT_REUSE: 'retry', TRUSTED_PROXIES: '127.0.0.0/8, ::1' };
  expect(await statuses(settings, ['192.0.2.1', '192.0.2.1', '198.51.100.7', '192.0.2.1, 198.51.100.7'])).toEqual([
    200, 200, 401, 401,
  ]);
});

test('VERDICT_REUSE=retry: whom a client says it speaks for does not matter', async () => {
  expect(await statuses({ VERDICT_REUSE: 'retry' }, ['192.0.2.1', '198.51.100.7'])).toEqual([200, 200]);
});

test('VERDICT_REUSE=off: never', async () => {
  expect(await statuses({ VERDICT_REUSE: 'off' }, ['192.0.2.1', '192.0.2.1'])).toEqual([200, 401]);
});

test('ten verifiers and two hundred uploads with one proof: the provider, which accepts a nonce once, gets one query', async () => {
  await using stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS_PER_USER: '200' }, 10);
  const headers = echoHeaders(stack);
  const responses = await Promise.all(Array.from({ length: 200 }, () => upload(stack, { media, headers })));
  expect(new Set(responses.map(({ status, text }) => (status === 200 ? 200 : text)))).toEqual(new Set([200]));
}, 120_000);

import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { patientCache } from '@echodrop/testkit/servers/patient-cache';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

const media = await samplePhoto('jpg', { width: 64, height: 48 });

let system: Stack;
beforeAll(async () => {
  system = await startStack({ services: ['sandbox-provider'] });
});
afterAll(() => system?.[Symbol.asyncDispose]());

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

test('VERDICT_REUSE=retry: only by the same client address, as reported by a trusted proxy', async () => {
  const settings = { VERDICT_REUSE: 'retry', TRUSTED_PROXIES: '127.0.0.0/8, ::1' };
  expect(await statuses(settings, ['192.0.2.1', '192.0.2.1', '198.51.100.7', '192.0.2.1, 198.51.100.7'])).toEqual([
    200, 200, 401, 401,
  ]);
});

test('VERDICT_REUSE=retry: X-Forwarded-For from an untrusted client is ignored', async () => {
  expect(await statuses({ VERDICT_REUSE: 'retry' }, ['192.0.2.1', '198.51.100.7'])).toEqual([200, 200]);
});

test('VERDICT_REUSE=off: a proof cannot be reused', async () => {
  expect(await statuses({ VERDICT_REUSE: 'off' }, ['192.0.2.1', '192.0.2.1'])).toEqual([200, 401]);
});

test('by default, 200 uploads with one proof at four verifiers cause one query to a provider that accepts each nonce once', async () => {
  const CACHE_REDIS_URL = patientCache(system.redis);
  await using stack = await gatewayWith({ MAX_CONCURRENT_UPLOADS_PER_USER: '200', CACHE_REDIS_URL }, 4);
  const headers = echoHeaders(stack);
  const responses = await Promise.all(Array.from({ length: 200 }, () => upload(stack, { media, headers })));
  expect(new Set(responses.map(({ status, text }) => (status === 200 ? 200 : text)))).toEqual(new Set([200]));
});

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

test('200 uploads with one proof at four verifiers cause one query to a provider that accepts each nonce once', async () => {
  const CACHE_REDIS_URL = patientCache(system.redis);
  await using stack = await startStack({
    beside: system,
    services: ['auth-verifier', 'gateway'],
    verifiers: 4,
    settings: { MAX_CONCURRENT_UPLOADS_PER_USER: '200', CACHE_REDIS_URL },
  });
  const headers = echoHeaders(stack);
  const responses = await Promise.all(Array.from({ length: 200 }, () => upload(stack, { media, headers })));
  expect(new Set(responses.map(({ status, text }) => (status === 200 ? 200 : text)))).toEqual(new Set([200]));
});

import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { expect, test } from 'vitest';

test('ten verifiers and two hundred uploads with one proof: the provider, which accepts a nonce once, is asked once', async () => {
  await using stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'],
    verifiers: 10,
    settings: { MAX_CONCURRENT_UPLOADS_PER_USER: '200' },
  });
  const media = await samplePhoto('jpg', { width: 64, height: 48 });
  const headers = echoHeaders(stack);
  const answers = await Promise.all(Array.from({ length: 200 }, () => upload(stack, { media, headers })));
  expect(new Set(answers.map(({ status, text }) => (status === 200 ? 200 : text)))).toEqual(new Set([200]));
}, 120_000);

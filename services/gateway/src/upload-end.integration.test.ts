import { samplePhoto } from '@echodrop/testkit/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const size = { width: 30, height: 20 };

let stack: Stack;

beforeAll(async () => {
  const settings = { MEDIA_TYPES_OFF: 'bmp', LOG_LEVEL: 'info' };
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'], settings });
});
afterAll(() => stack[Symbol.asyncDispose]());

/** The one line of a service in which all of `words` stand; it may be written after the answer. */
async function line(service: 'gateway' | 'probe-worker', ...words: readonly string[]) {
  const found = () => {
    const lines = stack.services[service].output.split('\n');
    return lines.find((each) => words.every((word) => each.includes(word)) && each.endsWith('}'));
  };
  await waitUntil(`a line of ${service}`, 5000, async () => found() !== undefined);
  return JSON.parse(found() ?? '');
}

test("the line of an upload's end leads to the probe-worker's", async () => {
  const { headers } = await upload(stack, { media: await samplePhoto('png', size) });
  const end = await line('gateway', 'upload ended', headers.get('x-request-id') ?? 'none');
  expect(end).toMatchObject({ outcome: 'published' });
  expect(await line('probe-worker', 'looked at media', end.mediaKey)).toMatchObject({ outcome: 'media', type: 'png' });
});

test.each([
  ['unknown_type', () => Buffer.from('a text')],
  ['type_off', () => samplePhoto('bmp', size)],
  ['broken', async () => (await samplePhoto('png', size)).subarray(0, 20)],
] as const)('of media that is not taken it says why: %s; the client is not told', async (why, media) => {
  const answer = await upload(stack, { media: await media() });
  expect(answer.status).toBe(415);
  expect(answer.text).not.toContain(why);
  const end = await line('gateway', 'upload ended', answer.headers.get('x-request-id') ?? 'none');
  expect(end).toMatchObject({ outcome: 'media_unsupported', why, mediaKey: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(answer.text).not.toContain(end.mediaKey);
});

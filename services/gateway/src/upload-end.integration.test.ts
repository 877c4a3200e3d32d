import { unsupportedSentences } from '@echodrop/contracts/refusal-statuses-and-messages';
import { type UnsupportedReason, unsupportedReasons } from '@echodrop/media/outcomes';
import { patientSettings } from '@echodrop/testkit/patience';
import { made, samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const size = { width: 30, height: 20 };

let stack: Stack;

beforeAll(async () => {
  const settings = { ...patientSettings, MEDIA_TYPES_OFF: 'bmp', MAX_PIXELS: '10000', LOG_LEVEL: 'info' };
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'], settings });
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Waits for the log line of a service that contains all of `words`. */
async function line(service: 'gateway' | 'probe-worker', ...words: readonly string[]) {
  const found = () => {
    const lines = stack.services[service].output.split('\n');
    return lines.find((each) => words.every((word) => each.includes(word)) && each.endsWith('}'));
  };
  await waitUntil(`a log line of ${service}`, async () => found() !== undefined);
  return JSON.parse(found() ?? '');
}

test('the log line of an upload can be correlated with that of the probe-worker', async () => {
  const { headers } = await upload(stack, { media: await samplePhoto('png', size) });
  const end = await line('gateway', 'Upload published', headers.get('x-request-id') ?? 'none');
  expect(end).toMatchObject({ outcome: 'published' });
  expect(await line('probe-worker', 'Media probed', end.mediaKey)).toMatchObject({ outcome: 'supported', type: 'png' });
});

// Media for each reason.
const unsupported: Readonly<Record<UnsupportedReason, () => Promise<Buffer>>> = {
  unknown_type: async () => Buffer.from('a text'),
  type_off: () => samplePhoto('bmp', size),
  broken: async () => (await samplePhoto('png', size)).subarray(0, 20),
  no_picture: () => made(['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'aac', '-f', 'mp4']),
  codec: () => sampleVideo('mkv', { ...size, sound: false, options: ['-c:v', 'ffvhuff'] }),
  too_many_pixels: () => samplePhoto('png', { width: 102, height: 100 }),
  too_costly: async () => Buffer.concat([Buffer.from([0xff, 0xd8]), ...Array(150).fill(longestComment)]),
};
const longestComment = Buffer.concat([Buffer.from([0xff, 0xfe, 0xff, 0xff]), Buffer.alloc(0xfffd)]);

// test/openapi.test.ts has a refusal for each version and format.
test.each(unsupportedReasons)(
  'unsupported media: %s: the response has the message, and the log the reason',
  async (why) => {
    const response = await upload(stack, { media: await unsupported[why]() });
    const message = unsupportedSentences[why].replace('{type}', 'bmp');
    expect(response.status).toBe(415);
    expect(JSON.parse(response.text)).toEqual({ errors: [{ code: 415, reason: 'media_unsupported', message }] });
    const end = await line('gateway', 'Upload refused', response.headers.get('x-request-id') ?? 'none');
    expect(end).toMatchObject({
      outcome: 'media_unsupported',
      cause: why,
      refusalMessage: message,
      mediaKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(response.text).not.toContain(end.mediaKey);
  },
);

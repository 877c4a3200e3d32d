import { createHmac } from 'node:crypto';
import { providerResponses, type Software } from '@echodrop/testkit/provider/provider-responses';
import {
  type DocumentedProvider,
  documentedSecretParts,
  startDocumentedProvider,
} from '@echodrop/testkit/provider/start-documented-provider';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

const userIdSecret = 'the secret of ids of this test';
const software = Object.keys(providerResponses) as Software[];

const parts = new AsyncDisposableStack();
let providers: Record<Software, DocumentedProvider>;
let stack: Stack;
let media: Buffer;

beforeAll(async () => {
  const started = await Promise.all(
    software.map(async (each) => [each, parts.use(await startDocumentedProvider(each))] as const),
  );
  providers = Object.fromEntries(started) as Record<Software, DocumentedProvider>;
  stack = parts.use(
    await startStack({
      services: ['auth-verifier', 'gateway', 'probe-worker'],
      settings: {
        // Reversed, so that version 1 must skip a provider with bearer tokens.
        IDENTITY_PROVIDERS: started
          .map(([, { setting }]) => setting)
          .reverse()
          .join(', '),
        USER_ID_SECRET: userIdSecret,
      },
    }),
  );
  media = await samplePhoto('png', { width: 8, height: 6 });
});
afterAll(() => parts.disposeAsync());

function uploadWith({ address }: DocumentedProvider, proof: string) {
  const headers = { 'X-Auth-Service-Provider': address, 'X-Verify-Credentials-Authorization': proof };
  return upload({ ...stack, provider: address }, { media, headers });
}

// docs/reference/identity-providers.md: the numeric id of a non-numeric subject.
function hashedId(provider: string, subject: string): string {
  const hash = createHmac('sha256', userIdSecret)
    .update(JSON.stringify([provider, subject]))
    .digest();
  return String(hash.readBigUInt64BE() >> 1n);
}

test.each(software)('%s: an upload is published under the user in the response', async (each) => {
  const provider = providers[each];
  const id = /^\d+$/.test(provider.subject) ? provider.subject : hashedId(provider.address, provider.subject);
  const response = await uploadWith(provider, provider.rightProof());
  expect(response).toMatchObject({ status: 200 });
  // As text, because a JSON parser rounds ids above 2^53.
  expect(response.text).toContain(`"user":{"id":${id},"screen_name":${JSON.stringify(provider.screenName)}}`);
});

test.each(software)('%s: wrong credentials are refused', async (each) => {
  const response = await uploadWith(providers[each], providers[each].wrongProof());
  expect(response.status).toBe(401);
  expect(JSON.parse(response.text)).toMatchObject({ errors: [{ reason: 'credentials_refused' }] });
});

test('a proof for one provider is refused at another', async () => {
  for (const [other, proved] of [
    ['gnuSocial', 'x'],
    ['matrix', 'wordpress'],
    ['wordpress', 'mastodon'],
  ] as const) {
    const response = await uploadWith(providers[other], providers[proved].rightProof());
    expect(JSON.parse(response.text)).toMatchObject({ errors: [{ reason: 'credentials_refused' }] });
  }
});

test('version 1 queries the first provider that accepts signed requests', async () => {
  const form = (secrets: typeof documentedSecretParts) => [
    { name: 'key', content: sandbox.apiKey },
    ...secrets,
    { name: 'message', content: '' },
    { name: 'media', filename: 'media', content: media },
  ];
  const response = await upload(stack, { version: 1, parts: form(documentedSecretParts) });
  expect(response).toMatchObject({ status: 200 });
  expect(response.text).toContain(
    `"user":{"id":${providers.wordpress.subject},"screen_name":"${providers.wordpress.screenName}"}`,
  );

  const guessed = documentedSecretParts.map((part) => ({ ...part, content: `${part.content}?` }));
  const refused = await upload(stack, { version: 1, parts: form(guessed) });
  expect(refused.status).toBe(401);
  expect(JSON.parse(refused.text)).toMatchObject({ errors: [{ reason: 'credentials_refused' }] });
});

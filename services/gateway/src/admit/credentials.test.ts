import { refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { expect, test, vi } from 'vitest';
import { credentialsFromHeaders, requireCaller, secretsMissing } from './credentials.ts';

const echo = 'x-verify-credentials-authorization';
const named = 'x-auth-service-provider';
const provider = 'https://id.example/verify';
const credentials = { version: 2, provider, authorization: 'Bearer t' } as const;
const [, refusedMessages] = refusals.credentials_refused;

const read = (headers: Record<string, string>, compatibility: 'strict' | 'historic' = 'strict') =>
  credentialsFromHeaders(headers, { knownProviders: async () => [provider, 'https://other.example/v'] }, compatibility);

test.each([
  [
    { [named]: provider, [echo]: 'OAuth x="y"' },
    { provider, authorization: 'OAuth x="y"' },
  ],
  [
    { [named]: provider, authorization: 'Bearer t' },
    { provider, authorization: 'Bearer t' },
  ],
  [{ authorization: 'bearer t' }, { authorization: 'bearer t' }],
  [
    { [named]: provider, [echo]: 'Bearer t', authorization: 'Bearer t' },
    { provider, authorization: 'Bearer t' },
  ],
  // Of a proxy in front, or of an old client.
  [
    { [named]: provider, [echo]: 'Bearer t', authorization: 'Basic eDp5' },
    { provider, authorization: 'Bearer t' },
  ],
])('%j has credentials', async (headers, expected) => {
  expect(await read(headers)).toEqual({ version: 2, ...expected });
});

test('in historic mode a missing provider is the first one, but not of a bearer token alone', async () => {
  expect(await read({ [echo]: 'OAuth x="y"' }, 'historic')).toMatchObject({ provider });
  expect(await read({ authorization: 'Bearer t' }, 'historic')).not.toHaveProperty('provider');
});

test.each([
  [{}, 401, /^Missing credentials: send the headers X-Auth-Service-Provider and X-Verify-Credentials-Authorization/],
  [{ authorization: 'Basic eDp5' }, 401, /^Missing credentials: send the headers X-Auth-Service-Provider/],
  [{ authorization: 'Bearer' }, 401, /^Missing credentials: send the headers X-Auth-Service-Provider/],
  [{ [named]: provider }, 401, /send the header X-Verify-Credentials-Authorization, too/],
  [{ [echo]: 'Bearer t' }, 401, /send the header X-Auth-Service-Provider, too/],
  [
    { [named]: 'https://ID.example/verify', [echo]: 'Bearer t' },
    401,
    /It accepts https:\/\/id\.example\/verify, https:\/\/other\.example\/v\.$/,
  ],
  [
    { [named]: provider, [echo]: 'OAuth x="y"', authorization: 'Bearer t' },
    400,
    /two proofs of its user: Authorization and X-Verify-Credentials-Authorization\. Send one\.$/,
  ],
])('%j is refused with %i, and the message names the cause', async (headers, status, sentence) => {
  await expect(read(headers)).rejects.toMatchObject({ status, sentence: expect.stringMatching(sentence) });
});

test('the message names the missing fields of version 1, or one that was sent as a file', () => {
  const fields = new Map([
    ['consumer_token', 'x'],
    ['oauth_token', ''],
  ] as const);
  expect(secretsMissing({ fields, misplaced: new Map() }).sentence).toBe(
    'Missing credentials: send the fields consumer_secret, oauth_token, oauth_secret, or a bearer token in the header Authorization.',
  );
  const misplaced = new Map([['oauth_secret', 'Content-Type application/json']]);
  expect(secretsMissing({ fields, misplaced }).sentence).toBe(
    'Parameter oauth_secret was sent as a file (Content-Type application/json); send it as text.',
  );
});

test.each([
  [undefined, refusedMessages.provider],
  ['unsupported_scheme', refusedMessages.unsupported_scheme],
  ['a cause of another release', refusedMessages.provider],
])('the message for refused credentials names the cause %s', (cause, sentence) => {
  expect(() => requireCaller({ outcome: 'refused', cause }, credentials, { excuse: () => {} })).toThrow(
    expect.objectContaining({ sentence }),
  );
});

test('an unknown provider is named as the credentials need it', () => {
  const require = (sent: Parameters<typeof requireCaller>[1]) => () =>
    requireCaller({ outcome: 'provider_unknown' }, sent, { excuse: () => {} });
  expect(require(credentials)).toThrow(expect.objectContaining({ reason: 'provider_unknown' }));
  const unnamed = { version: 2, authorization: 'Bearer t' } as const;
  expect(require(unnamed)).toThrow(expect.objectContaining({ reason: 'credentials_missing' }));
  const secrets = { consumerToken: '', consumerSecret: '', oauthToken: '', oauthSecret: '' };
  const sentence = expect.stringContaining('Use version 2');
  expect(require({ version: 1, ...secrets })).toThrow(
    expect.objectContaining({ reason: 'provider_unknown', sentence }),
  );
});

test('too many verifications are no failure of the address, and 429 for its own, otherwise 503', () => {
  const excuse = vi.fn();
  const verdict = { outcome: 'overloaded', retryAfterSeconds: 1 } as const;
  const refusal = expect.objectContaining({ reason: 'overloaded', status: 503, retryAfterSeconds: 1 });
  expect(() => requireCaller(verdict, credentials, { excuse })).toThrow(refusal);
  expect(excuse).toHaveBeenCalledOnce();
  const aboveShare = expect.objectContaining({ reason: 'too_many_requests', status: 429, retryAfterSeconds: 1 });
  expect(() => requireCaller({ ...verdict, isOwnShare: true }, credentials, { excuse })).toThrow(aboveShare);
  expect(excuse).toHaveBeenCalledTimes(2);
  expect(() => requireCaller({ ...verdict, outcome: 'provider_unavailable' }, credentials, { excuse })).toThrow();
  expect(() => requireCaller({ outcome: 'refused' }, credentials, { excuse })).toThrow();
  expect(excuse).toHaveBeenCalledTimes(2);
});

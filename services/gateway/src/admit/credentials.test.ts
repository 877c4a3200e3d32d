import { credentialsRefusedSentences } from '@echodrop/contracts/refusal-statuses-and-messages';
import { expect, test, vi } from 'vitest';
import { requireCaller } from './credentials.ts';

test.each([
  [undefined, credentialsRefusedSentences.provider],
  ['unsupported_scheme', credentialsRefusedSentences.unsupported_scheme],
  ['replay', credentialsRefusedSentences.replay],
  ['a cause of a later release', credentialsRefusedSentences.provider],
])('the message for refused credentials names the cause %s', (cause, sentence) => {
  expect(() => requireCaller({ outcome: 'refused', cause }, { excuse: () => {} })).toThrow(
    expect.objectContaining({ sentence }),
  );
});

test('too many verifications are no failure of the address, and are 503 to its client', () => {
  const excuse = vi.fn();
  const verdict = { outcome: 'overloaded', retryAfterSeconds: 1 } as const;
  const refusal = expect.objectContaining({ reason: 'overloaded', status: 503, retryAfterSeconds: 1 });
  expect(() => requireCaller(verdict, { excuse })).toThrow(refusal);
  expect(excuse).toHaveBeenCalledOnce();
  expect(() => requireCaller({ ...verdict, outcome: 'provider_unavailable' }, { excuse })).toThrow();
  expect(() => requireCaller({ outcome: 'refused' }, { excuse })).toThrow();
  expect(excuse).toHaveBeenCalledOnce();
});

import { credentialsRefusedSentences } from '@echodrop/contracts/refusal-statuses-and-messages';
import { expect, test } from 'vitest';
import { requireCaller } from './credentials.ts';

test.each([
  [undefined, credentialsRefusedSentences.provider],
  ['unsupported_scheme', credentialsRefusedSentences.unsupported_scheme],
  ['replay', credentialsRefusedSentences.replay],
  ['a cause of a later release', credentialsRefusedSentences.provider],
])('the message for refused credentials names the cause %s', (cause, sentence) => {
  expect(() => requireCaller({ outcome: 'refused', cause })).toThrow(expect.objectContaining({ sentence }));
});

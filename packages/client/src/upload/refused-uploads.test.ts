import {
  isTemporary as isTemporaryReason,
  type Reason,
  refusals,
} from '@echodrop/contracts/refusal-statuses-and-messages';
import { expect, test } from 'vitest';
import { describeProxyResponse, isTemporary, mayBePublished } from './refused-uploads.ts';

test.each(Object.entries(refusals))('a client repeats a request after %s if the table says so', (reason, [status]) => {
  expect(isTemporary({ status, reason })).toBe(isTemporaryReason(reason as Reason));
});

test.each<[refusal: Parameters<typeof mayBePublished>[0], before: boolean, expected: boolean]>([
  [{ status: 415, reason: 'media_unsupported' }, true, false],
  [{ status: 403, reason: 'caller_blocked' }, true, true],
  [{ status: 403, reason: 'caller_blocked' }, false, false],
  // A proxy knows nothing about earlier attempts.
  [{ status: 400, reason: 'unknown' }, true, true],
  [{ status: 413, reason: 'unknown' }, true, true],
  [{ status: 413, reason: 'unknown' }, false, false],
  [{ status: 502, reason: 'unknown' }, false, true],
  [{ status: 503, reason: 'overloaded' }, false, false],
  [{ status: 409, reason: 'idempotency_key_in_use' }, false, true],
])('after %o, in doubt before: %s, an upload may be published: %s', (refusal, before, expected) => {
  expect(mayBePublished(refusal, before)).toBe(expected);
});

test.each([
  [413, null, /refused one \(status 413, without a Content-Type\).*#body-limits/],
  [403, 'text/html; charset=utf-8', /\(status 403, text\/html\)\. A proxy or firewall may be/],
  [502, 'text/html', /\(status 502, text\/html\)\. Try again later\.$/],
])('describes a response of a proxy with status %i and type %j', (status, type, message) => {
  expect(describeProxyResponse(status, type)).toMatch(message);
});

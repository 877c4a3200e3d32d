import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { expect, test } from 'vitest';
import { clockFinding, skewOf } from './clock-skew.ts';
import type { Completed } from './provider-queries.ts';

const second = Date.UTC(2026, 10, 21, 12, 0, 7);

function attempt(begun: number, ended: number, date = second): Completed {
  return { begun, ended, response: { status: 401, headers: { date: new Date(date).toUTCString() }, body: '' } };
}

test.each([
  ['at the beginning of the second', 0, 10],
  ['at its end', 989, 999],
  ['beginning before it', -4000, 3],
  ['ending after it', 999, 5000],
  ['around it', -2000, 4000],
])('reports no skew for an exchange %s', (_, begun, ended) => {
  const completed = attempt(second + begun, second + ended);
  expect(skewOf(completed)).toMatchObject({ least: 0 });
  expect(clockFinding(completed, providerProfiles.oauth1)).toMatchObject({ weight: 'ok' });
});

test.each([
  ['ahead', -1500, -1400, 1400],
  ['behind', 1500, 1600, 500],
])('gives a lower bound for a clock that is %s', (_, begun, ended, least) => {
  expect(skewOf(attempt(second + begun, second + ended))).toMatchObject({ least });
});

test.each([
  [20, 'ok', 'ok'],
  [-20, 'ok', 'ok'],
  [40, 'warn', 'warn'],
  [-299, 'warn', 'warn'],
  [302, 'wrong', 'warn'],
  [-302, 'wrong', 'warn'],
])('a skew of %i s is %s for signatures and %s for tokens', (seconds, signed, bearer) => {
  const completed = attempt(second, second + 20, second + seconds * 1000);
  expect(clockFinding(completed, providerProfiles.oauth1).weight).toBe(signed);
  expect(clockFinding(completed, providerProfiles.mastodon).weight).toBe(bearer);
});

test.each([undefined, 'yesterday'])('warns without a valid Date header (%s)', (date) => {
  const completed = { begun: 0, ended: 0, response: { status: 401, headers: date ? { date } : {}, body: '' } };
  expect(clockFinding(completed, providerProfiles.oauth1)).toMatchObject({ weight: 'warn' });
});

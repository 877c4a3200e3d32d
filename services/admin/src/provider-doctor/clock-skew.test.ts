import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { expect, test } from 'vitest';
import { clockFinding, skewOf } from './clock-skew.ts';
import type { Answered } from './exchange.ts';

const second = Date.UTC(2026, 10, 21, 12, 0, 7);

function exchange(begun: number, ended: number, date = second): Answered {
  return { begun, ended, answer: { status: 401, headers: { date: new Date(date).toUTCString() }, body: '' } };
}

test.each([
  ['at the beginning of the second', 0, 10],
  ['at its end', 989, 999],
  ['begun before it', -4000, 3],
  ['ended after it', 999, 5000],
  ['around it', -2000, 4000],
])('a clock that may be right is: the exchange was %s', (_, begun, ended) => {
  const asked = exchange(second + begun, second + ended);
  expect(skewOf(asked)).toMatchObject({ least: 0 });
  expect(clockFinding(asked, providerProfiles.oauth1)).toMatchObject({ weight: 'ok' });
});

test.each([
  ['ahead', -1500, -1400, 1400],
  ['behind', 1500, 1600, 500],
])('a clock that cannot be right is so far off at least: %s', (_, begun, ended, least) => {
  expect(skewOf(exchange(second + begun, second + ended))).toMatchObject({ least });
});

test.each([
  [20, 'ok', 'ok'],
  [-20, 'ok', 'ok'],
  [40, 'warn', 'warn'],
  [-299, 'warn', 'warn'],
  [302, 'wrong', 'warn'],
  [-302, 'wrong', 'warn'],
])('a clock %i s off: signatures bear some minutes, tokens bear all', (seconds, signed, bearer) => {
  const asked = exchange(second, second + 20, second + seconds * 1000);
  expect(clockFinding(asked, providerProfiles.oauth1).weight).toBe(signed);
  expect(clockFinding(asked, providerProfiles.mastodon).weight).toBe(bearer);
});

test.each([undefined, 'yesterday'])('without a Date (%s) nothing can be said', (date) => {
  const asked = { begun: 0, ended: 0, answer: { status: 401, headers: date ? { date } : {}, body: '' } };
  expect(clockFinding(asked, providerProfiles.oauth1)).toMatchObject({ weight: 'warn' });
});

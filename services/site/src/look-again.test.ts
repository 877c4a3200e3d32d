import type { Response } from 'express';
import { expect, test } from 'vitest';
import { lookAgain, lookingSince } from './look-again.ts';

const now = Date.UTC(2026, 10, 21, 12);
const seconds = now / 1000;

function refreshOf(since: number | undefined): string | undefined {
  let refresh: string | undefined;
  const response = { set: (_name: string, value: string) => (refresh = value) } as unknown as Response;
  const looks = lookAgain(response, '/Ab3dE6gH9j', since, now);
  expect(looks).toBe(refresh !== undefined);
  return refresh;
}

test('the browser looks again soon, then less and less often, and then no longer', () => {
  expect(refreshOf(undefined)).toBe(`2; url=/Ab3dE6gH9j?since=${seconds}`);
  expect(refreshOf(seconds - 40)).toBe(`10; url=/Ab3dE6gH9j?since=${seconds - 40}`);
  expect(refreshOf(seconds - 29 * 60)).toMatch(/^30; /);
  expect(refreshOf(seconds - 31 * 60)).toBeUndefined();
  expect(refreshOf(0)).toBeUndefined();
});

test.each([
  [String(seconds), seconds],
  [String(seconds + 1), undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['', undefined],
  [['1', '2'], undefined],
  [undefined, undefined],
])('?since=%s is looking since %s', (since, expected) => {
  expect(lookingSince({ query: { since } }, now)).toBe(expected);
});

import type { Response } from 'express';
import { expect, test } from 'vitest';
import { refreshingSince, refreshPage } from './refresh-page.ts';

const now = Date.UTC(2026, 10, 21, 12);
const seconds = now / 1000;

function refreshOf(path: string, age: number, since?: number): string | undefined {
  let refresh: string | undefined;
  const response = { set: (_name: string, value: string) => (refresh = value) } as unknown as Response;
  const isReloading = refreshPage(response, { path, published: new Date(now - age * 1000), since }, now);
  expect(isReloading).toBe(refresh !== undefined);
  return refresh;
}

test('for a new upload, the browser reloads the same address at increasing intervals', () => {
  expect([0, 4, 40, 29 * 60].map((age) => refreshOf('/Ab3dE6gH9j', age))).toEqual(['2', '2', '10', '30']);
  // The gateway's clock may be ahead.
  expect(refreshOf('/Ab3dE6gH9j', -5)).toBe('2');
});

test.each([31 * 60, 86_400, -86_400])(
  'for an upload %i s ago, the address contains the start time, for half an hour',
  (age) => {
    const refresh = (since?: number) => refreshOf('/Ab3dE6gH9j', age, since);
    expect(refresh()).toBe(`2; url=/Ab3dE6gH9j?since=${seconds}`);
    expect(refresh(seconds - 40)).toBe(`10; url=/Ab3dE6gH9j?since=${seconds - 40}`);
    expect(refresh(seconds - 29 * 60)).toMatch(/^30; /);
    expect(refresh(seconds - 31 * 60)).toBeUndefined();
    expect(refresh(0)).toBeUndefined();
    expect(refreshOf('/by/0?after=1-a', age)).toBe(`2; url=/by/0?after=1-a&since=${seconds}`);
  },
);

test.each([
  [String(seconds), seconds],
  [String(seconds + 1), undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['', undefined],
  [['1', '2'], undefined],
  [undefined, undefined],
])('?since=%s becomes %s', (since, expected) => {
  expect(refreshingSince({ query: { since } }, now)).toBe(expected);
});

import { expect, test, vi } from 'vitest';
import { retryAfterMs } from './query-providers.ts';

test.each([
  ['0', 0],
  ['120', 120_000],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon 1', undefined],
  ['10, 20', undefined],
  ['2030', 2_030_000],
  ['2030-01-01', undefined],
  ['9'.repeat(40), undefined],
])('%s', (header, ms) => {
  vi.useFakeTimers({ now: new Date('2026-11-21T12:00:00Z') });
  expect(retryAfterMs(header)).toEqual(ms);
});

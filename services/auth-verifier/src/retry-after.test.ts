import { expect, test, vi } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

test.each([
  ['0', 0],
  ['120', 120_000],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-5', expect.toSatisfy((ms) => ms === undefined || ms >= 0)],
  ['9'.repeat(40), undefined],
])('%s', (header, ms) => {
  vi.useFakeTimers({ now: new Date('2026-11-21T12:00:00Z') });
  expect(retryAfterMs(header)).toEqual(ms);
  vi.useRealTimers();
});

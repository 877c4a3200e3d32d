import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RequestRefused } from './client-errors.ts';
import { retryAfterSeconds, withRetries } from './retry.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The pauses before the retries of a request that is refused each time. */
async function pausesOf(retries: number, retryAfterSeconds = 0): Promise<number[]> {
  const pauses: number[] = [];
  const refused = new RequestRefused({ status: 503, reason: 'overloaded', message: '', retryAfterSeconds });
  const { signal } = new AbortController();
  const onRetry = (_: unknown, pauseMs: number) => void pauses.push(pauseMs);
  const failed = expect(withRetries(() => Promise.reject(refused), { retries, signal, onRetry })).rejects.toBe(refused);
  await vi.runAllTimersAsync();
  await failed;
  return pauses;
}

test('pauses double, with jitter, up to half a minute each', async () => {
  const pauses = await pausesOf(15);
  expect(pauses).toHaveLength(15);
  for (const [n, pause] of pauses.entries()) {
    const longest = Math.min(30_000, 250 * 2 ** n);
    expect(pause).toBeGreaterThanOrEqual(longest / 2);
    expect(pause).toBeLessThanOrEqual(longest);
  }
});

test('all pauses together take at most ten minutes, however many retries are allowed', async () => {
  const total = (await pausesOf(1000)).reduce((sum, pause) => sum + pause);
  expect(total).toBeLessThanOrEqual(600_000);
  expect(total).toBeGreaterThan(600_000 - 30_000);
});

test('Retry-After lengthens a pause, up to two minutes, within the total', async () => {
  expect(await pausesOf(1, 120)).toEqual([120_000]);
  expect(await pausesOf(1, 121)).toEqual([]);
  expect(await pausesOf(100, 120)).toEqual(Array(5).fill(120_000));
});

test.each([
  ['7', 7],
  ['Sat, 21 Nov 2026 12:01:00 GMT', 60],
  ['Sat, 21 Nov 2026 11:59:00 GMT', 0],
  ['', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['tomorrow GMT', undefined],
])('the header "%s" asks to wait for %s seconds', (header, seconds) => {
  vi.setSystemTime(Date.parse('2026-11-21T12:00:00Z'));
  expect(retryAfterSeconds(header)).toBe(seconds);
});

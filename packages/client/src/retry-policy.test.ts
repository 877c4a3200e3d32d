import { expect, test, vi } from 'vitest';
import { RetryPolicy, retryAfterSeconds } from './retry-policy.ts';

function pausesOf(policy: RetryPolicy, retryAfterMs = 0): number[] {
  const pauses: number[] = [];
  for (let pause = policy.nextPauseMs(retryAfterMs); pause !== undefined; pause = policy.nextPauseMs(retryAfterMs))
    pauses.push(pause);
  return pauses;
}

test('pauses double, with jitter, up to half a minute each', () => {
  const pauses = pausesOf(new RetryPolicy(15));
  expect(pauses).toHaveLength(15);
  for (const [n, pause] of pauses.entries()) {
    const longest = Math.min(30_000, 250 * 2 ** n);
    expect(pause).toBeGreaterThanOrEqual(longest / 2);
    expect(pause).toBeLessThanOrEqual(longest);
  }
});

test('all pauses together take at most ten minutes, however many retries are allowed', () => {
  const pauses = pausesOf(new RetryPolicy(1000));
  const total = pauses.reduce((sum, pause) => sum + pause);
  expect(total).toBeLessThanOrEqual(600_000);
  expect(total).toBeGreaterThan(600_000 - 30_000);
});

test('Retry-After lengthens a pause, up to two minutes, within the total', () => {
  expect(new RetryPolicy(1).nextPauseMs(120_000)).toBe(120_000);
  expect(new RetryPolicy(1).nextPauseMs(120_001)).toBeUndefined();
  expect(pausesOf(new RetryPolicy(100), 120_000)).toEqual(Array(5).fill(120_000));
});

test('progress restarts the count and the total', () => {
  const policy = new RetryPolicy(2);
  pausesOf(policy);
  policy.restart();
  expect(pausesOf(policy)).toHaveLength(2);
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

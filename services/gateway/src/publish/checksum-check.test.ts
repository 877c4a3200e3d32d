import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChecksumCheck } from './checksum-check.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('a store that does not compare checksums is asked again after five minutes, and one that does never', async () => {
  const comparesChecksums = vi.fn(async () => false);
  const known = vi.fn();
  const check = new ChecksumCheck({ comparesChecksums }, known);
  await Promise.all([check.run(), check.run()]);
  await check.run();
  expect(comparesChecksums).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(5 * 60_000);
  comparesChecksums.mockResolvedValue(true);
  await check.run();
  vi.advanceTimersByTime(5 * 60_000);
  await check.run();
  expect(comparesChecksums).toHaveBeenCalledTimes(2);
  expect(known.mock.calls).toEqual([[false], [true]]);
});

test('a store that is away is asked again at once', async () => {
  const comparesChecksums = vi.fn(async () => true).mockRejectedValueOnce(new Error('away'));
  const check = new ChecksumCheck({ comparesChecksums }, () => {});
  await expect(check.run()).rejects.toThrow('away');
  await check.run();
  expect(comparesChecksums).toHaveBeenCalledTimes(2);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChecksumCheck } from './checksum-check.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('a store without checksum support is checked again after five minutes, and one with it never', async () => {
  const supportsChecksums = vi.fn(async () => false);
  const onResult = vi.fn();
  const check = new ChecksumCheck({ supportsChecksums }, onResult);
  await Promise.all([check.run(), check.run()]);
  await check.run();
  expect(supportsChecksums).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(5 * 60_000);
  supportsChecksums.mockResolvedValue(true);
  await check.run();
  vi.advanceTimersByTime(5 * 60_000);
  await check.run();
  expect(supportsChecksums).toHaveBeenCalledTimes(2);
  expect(onResult.mock.calls).toEqual([[false], [true]]);
});

test('an unavailable store is checked again at once', async () => {
  const supportsChecksums = vi.fn(async () => true).mockRejectedValueOnce(new Error('away'));
  const check = new ChecksumCheck({ supportsChecksums }, () => {});
  await expect(check.run()).rejects.toThrow('away');
  await check.run();
  expect(supportsChecksums).toHaveBeenCalledTimes(2);
});

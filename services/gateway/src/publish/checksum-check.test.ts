import { beforeEach, expect, test, vi } from 'vitest';
import { checksumCheck } from './checksum-check.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

test('a store without checksum support is checked again after five minutes, one with support never', async () => {
  const supportsChecksums = vi.fn(async () => false);
  const onResult = vi.fn();
  const check = checksumCheck({ supportsChecksums }, onResult);
  await Promise.all([check(), check()]);
  await check();
  expect(supportsChecksums).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(5 * 60_000);
  supportsChecksums.mockResolvedValue(true);
  await check();
  vi.advanceTimersByTime(5 * 60_000);
  await check();
  expect(supportsChecksums).toHaveBeenCalledTimes(2);
  expect(onResult.mock.calls).toEqual([[false], [true]]);
});

test('an unavailable store is checked again at once', async () => {
  const supportsChecksums = vi.fn(async () => true).mockRejectedValueOnce(new Error('away'));
  const check = checksumCheck({ supportsChecksums }, () => {});
  await expect(check()).rejects.toThrow('away');
  await check();
  expect(supportsChecksums).toHaveBeenCalledTimes(2);
});

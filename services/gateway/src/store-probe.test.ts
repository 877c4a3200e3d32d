import { fullCapabilities } from '@echodrop/object-store/store-capabilities';
import { beforeEach, expect, test, vi } from 'vitest';
import { storeProbe } from './store-probe.ts';

const ready = async () => {};

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

test('a store that lacks something is probed again after five minutes, ten, and so on, one that lacks nothing never', async () => {
  const lacking = { ...fullCapabilities, hasConditionalWrites: false };
  const probe = vi.fn(async () => lacking);
  const probeOnce = storeProbe({ ready, probe });
  await Promise.all([probeOnce(), probeOnce()]);
  await probeOnce();
  expect(probe).toHaveBeenCalledTimes(1);
  const probeAfter = async (minutes: number) => {
    vi.advanceTimersByTime(minutes * 60_000);
    await probeOnce();
    await Promise.allSettled(probe.mock.results.map(({ value }) => value));
    return probe.mock.calls.length;
  };
  expect([await probeAfter(5), await probeAfter(9), await probeAfter(1)]).toEqual([2, 2, 3]);
  for (let day = 0; day < 10; day += 1) await probeAfter(24 * 60);
  expect(probe).toHaveBeenCalledTimes(13);
  probe.mockResolvedValue(fullCapabilities);
  expect([await probeAfter(24 * 60), await probeAfter(24 * 60)]).toEqual([14, 14]);
});

test('a repeated probe is not waited for, nor does its failure count', async () => {
  const lacking = { ...fullCapabilities, hasConditionalWrites: false };
  const probe = vi.fn(async () => lacking);
  const probeOnce = storeProbe({ ready, probe });
  await probeOnce();
  vi.advanceTimersByTime(5 * 60_000);
  const late = Promise.withResolvers<typeof lacking>();
  probe.mockReturnValue(late.promise);
  await probeOnce();
  late.reject(new Error('away'));
  await expect(late.promise).rejects.toThrow('away');
  await probeOnce();
});

test('an unavailable store is probed again at once', async () => {
  const probe = vi.fn(async () => fullCapabilities).mockRejectedValueOnce(new Error('away'));
  const probeOnce = storeProbe({ ready, probe });
  await expect(probeOnce()).rejects.toThrow('away');
  await probeOnce();
  expect(probe).toHaveBeenCalledTimes(2);
});

test('after an outage, the store is probed again before it counts as ready', async () => {
  const probe = vi.fn(async () => fullCapabilities);
  const away = vi.fn(ready);
  const check = storeProbe({ ready: away, probe });
  await check();
  away.mockRejectedValueOnce(new Error('away'));
  await expect(check()).rejects.toThrow('away');
  await check();
  expect(probe).toHaveBeenCalledTimes(2);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Health } from './health.ts';
import { RefusedSetting } from './refused-setting.ts';
import { Secret } from './secret.ts';

const log = { warn: vi.fn(), error: vi.fn() };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  log.warn.mockClear();
  vi.useRealTimers();
});

test('ready only between start and stop', async () => {
  const health = new Health(log);
  expect(await health.report()).toEqual({ ready: false, state: 'starting', parts: {} });
  health.markServing();
  expect(await health.report()).toEqual({ ready: true, state: 'serving', parts: {} });
  health.markStopping();
  expect(await health.report()).toEqual({ ready: false, state: 'stopping', parts: {} });
});

test('shows details next to the components', async () => {
  const health = new Health(log);
  health.setDetail('mediaSandbox', 'full');
  expect(await health.report()).toMatchObject({ parts: {}, mediaSandbox: 'full' });
});

test.each([
  ['rejects', () => Promise.reject(new Error('down'))],
  [
    'throws',
    () => {
      throw new Error('down');
    },
  ],
])('a component whose check %s is down, and the others are still reported', async (_, check) => {
  const health = new Health(log);
  health.addCheck('store', async () => {});
  health.addCheck('queue', check);
  health.markServing();
  expect(await health.report()).toEqual({
    ready: false,
    state: 'serving',
    parts: { store: 'ok', queue: 'down' },
    reasons: { queue: 'down' },
  });
});

test('a component that does not respond within two seconds is down until it responds', async () => {
  const health = new Health(log);
  let hangs = true;
  health.addCheck('store', async () => (hangs ? new Promise(() => {}) : undefined));
  health.markServing();
  const report = health.report();
  await vi.advanceTimersByTimeAsync(2000);
  expect(await report).toMatchObject({ ready: false, parts: { store: 'down' } });
  hangs = false;
  expect(await health.report()).toMatchObject({ ready: true, parts: { store: 'ok' } });
});

test('an optional component that is down is reported, and the process is ready', async () => {
  const health = new Health(log);
  health.addOptionalCheck('cache', () => Promise.reject(new Error('away')));
  health.markServing();
  expect(await health.report()).toMatchObject({ ready: true, parts: { cache: 'down' }, reasons: { cache: 'away' } });
});

test('an optional component that refuses a setting makes the process not ready', async () => {
  const health = new Health(log);
  health.addOptionalCheck('cache', () => Promise.reject(new RefusedSetting('database 16')));
  health.markServing();
  expect(await health.report()).toMatchObject({ ready: false, reasons: { cache: 'database 16' } });
});

test('the next probe shows why a check failed that ended after its probe', async () => {
  const health = new Health(log);
  const checks: ((error: Error) => void)[] = [];
  health.addCheck('store', () => new Promise((_, reject) => checks.push(reject)));
  const reasonOfProbe = async () => {
    const report = health.report();
    await vi.advanceTimersByTimeAsync(2000);
    return (await report).reasons?.['store'];
  };
  expect(await reasonOfProbe()).toBe('no response within 2000 ms');
  checks[0]?.(new Error('ECONNREFUSED'));
  expect(await reasonOfProbe()).toBe('ECONNREFUSED');
});

test('each change of a component is logged once, however often it is probed, and also without probes', async () => {
  const health = new Health(log);
  let failure: Error | undefined = new Error('object store responded with 403 SignatureDoesNotMatch');
  health.addCheck('store', async () => {
    if (failure) throw failure;
  });
  health.markServing();
  await vi.advanceTimersByTimeAsync(5000);
  const line = { part: 'store', reason: 'object store responded with 403 SignatureDoesNotMatch' };
  expect(log.warn.mock.calls).toEqual([[line, 'Component is down']]);
  for (let probe = 0; probe < 100; probe += 1) await health.report();
  failure = new Error('ECONNREFUSED');
  await vi.advanceTimersByTimeAsync(5000);
  failure = undefined;
  await vi.advanceTimersByTimeAsync(5000);
  for (let probe = 0; probe < 100; probe += 1) await health.report();
  expect(log.warn.mock.calls.slice(1)).toEqual([
    [{ part: 'store', reason: 'ECONNREFUSED' }, 'Component is down'],
    [{ part: 'store' }, 'Component is up again'],
  ]);
});

test('what a start or a stop closes is no outage', async () => {
  const health = new Health(log);
  let isConnected = false;
  health.addCheck('queue', async () => {
    if (!isConnected) throw new Error('Redis unreachable');
  });
  for (let probe = 0; probe < 10; probe += 1) {
    await health.report();
    await vi.advanceTimersByTimeAsync(100);
  }
  isConnected = true;
  health.markServing();
  await vi.advanceTimersByTimeAsync(5000);
  health.markStopping();
  isConnected = false;
  for (let probe = 0; probe < 10; probe += 1) {
    expect(await health.report()).toMatchObject({ ready: false, reasons: { queue: 'Redis unreachable' } });
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(log.warn).not.toHaveBeenCalled();
});

test('a probe that began before all components were added reports no readiness', async () => {
  const health = new Health(log);
  const store = Promise.withResolvers<void>();
  health.addCheck('store', () => store.promise);
  const report = health.report();
  health.addCheck('queue', () => Promise.reject(new Error('away')));
  health.markServing();
  store.resolve();
  expect(await report).toMatchObject({ ready: false, parts: { store: 'ok' } });
});

test('a process that stops during a probe is not ready', async () => {
  const health = new Health(log);
  const store = Promise.withResolvers<void>();
  health.addCheck('store', () => store.promise);
  health.markServing();
  const report = health.report();
  health.markStopping();
  store.resolve();
  expect(await report).toMatchObject({ ready: false, state: 'stopping' });
});

test('secrets are neither reported nor logged', async () => {
  const health = new Health(log, [new Secret('redis://gateway:hunter2@redis:6379')]);
  const error = new Error("ERR unknown command 'AUTH', with args beginning with: 'gateway' 'hunter2'");
  health.addCheck('queue', () => Promise.reject(error));
  health.markServing();
  await vi.advanceTimersByTimeAsync(5000);
  expect(JSON.stringify([await health.report(), log.warn.mock.calls])).not.toContain('hunter2');
  expect(log.warn).toHaveBeenCalledTimes(1);
});

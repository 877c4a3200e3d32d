import { expect, test, vi } from 'vitest';
import { Health } from './health.ts';

test('ready only between start and stop', async () => {
  const health = new Health();
  expect(await health.report()).toEqual({ ready: false, state: 'starting', parts: {} });
  health.markServing();
  expect(await health.report()).toEqual({ ready: true, state: 'serving', parts: {} });
  health.markStopping();
  expect(await health.report()).toEqual({ ready: false, state: 'stopping', parts: {} });
});

test('shows details next to the components', async () => {
  const health = new Health();
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
  const health = new Health();
  health.addCheck('store', async () => {});
  health.addCheck('queue', check);
  health.markServing();
  expect(await health.report()).toEqual({ ready: false, state: 'serving', parts: { store: 'ok', queue: 'down' } });
});

test('a component that does not respond within two seconds is down until it responds', async () => {
  vi.useFakeTimers();
  const health = new Health();
  let hangs = true;
  health.addCheck('store', async () => (hangs ? new Promise(() => {}) : undefined));
  health.markServing();
  const report = health.report();
  await vi.advanceTimersByTimeAsync(2000);
  expect(await report).toMatchObject({ ready: false, parts: { store: 'down' } });
  hangs = false;
  expect(await health.report()).toMatchObject({ ready: true, parts: { store: 'ok' } });
});

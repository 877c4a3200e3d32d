import { expect, test, vi } from 'vitest';
import { Health } from './health.ts';

test('ready only between start and stop', async () => {
  const health = new Health();
  expect(await health.report()).toEqual({ ready: false, state: 'starting', parts: {} });
  health.serving();
  expect(await health.report()).toEqual({ ready: true, state: 'serving', parts: {} });
  health.stopping();
  expect(await health.report()).toEqual({ ready: false, state: 'stopping', parts: {} });
});

test('a detail is shown beside the parts', async () => {
  const health = new Health();
  health.detail('mediaSandbox', 'full');
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
])('a part whose check %s is down, and the others are told all the same', async (_, check) => {
  const health = new Health();
  health.needs('store', async () => {});
  health.needs('queue', check);
  health.serving();
  expect(await health.report()).toEqual({ ready: false, state: 'serving', parts: { store: 'ok', queue: 'down' } });
});

test('a part that does not say within two seconds is down, and up again when it says', async () => {
  vi.useFakeTimers();
  try {
    const health = new Health();
    let hangs = true;
    health.needs('store', async () => (hangs ? new Promise(() => {}) : undefined));
    health.serving();
    const report = health.report();
    await vi.advanceTimersByTimeAsync(2000);
    expect(await report).toMatchObject({ ready: false, parts: { store: 'down' } });
    hangs = false;
    expect(await health.report()).toMatchObject({ ready: true, parts: { store: 'ok' } });
  } finally {
    vi.useRealTimers();
  }
});

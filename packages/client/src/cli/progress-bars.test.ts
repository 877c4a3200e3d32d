import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { createBars } from './progress-bars.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Bars on a terminal that forgets what it shows. */
function bars() {
  const terminal = () =>
    Object.assign(new PassThrough().resume(), { isTTY: true, columns: 80, rows: 24, cursorTo() {} });
  const moves = { moveCursor() {}, clearLine() {}, clearScreenDown() {} };
  const stdout = terminal();
  const stderr = Object.assign(terminal(), moves);
  return createBars({ env: {}, cwd: '/', stdin: new PassThrough(), stdout, stderr });
}

test('no timer is left, whatever happens before and after the end', () => {
  vi.useFakeTimers();
  const shown = bars();
  const [first, second, late] = ['a.jpg', 'b.jpg', 'c.jpg'].map((name) => shown.add(name));
  first?.onProgress?.(1, 2);
  shown.pause();
  shown.resume();
  second?.onProgress?.(1, 2);
  expect(vi.getTimerCount()).toBe(1);
  shown.stop();
  expect(vi.getTimerCount()).toBe(0);
  late?.onProgress?.(1, 2);
  for (const each of [first, second, late]) each?.done();
  expect(vi.getTimerCount()).toBe(0);
});

import { vi } from 'vitest';

/** A `stallMs` that is over when the test says so, so that a healthy service has all the time that it needs. */
export const heldStallMs = 3_600_000;

/** Holds the limit of all requests with `heldStallMs` until the end of the test. The result ends the limit of the last one. */
export function holdStalls(): () => void {
  let end = () => {};
  const setTimer = globalThis.setTimeout;
  vi.stubGlobal('setTimeout', (callback: () => void, ms?: number, ...args: []) => {
    if (ms === heldStallMs) end = callback;
    return setTimer(callback, ms, ...args);
  });
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const limit = new AbortController();
    if (ms === heldStallMs) end = () => limit.abort(new DOMException('No response in time', 'TimeoutError'));
    return limit.signal;
  });
  return () => end();
}

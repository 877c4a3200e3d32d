import { vi } from 'vitest';

/** A deadline that passes when the test says so. */
export interface HeldDeadline extends Disposable {
  readonly pass: () => void;
}

/** Replaces `AbortSignal.timeout` for this number of milliseconds alone, so that a slow start of a program does not race its deadline. */
export function holdDeadline(ms: number): HeldDeadline {
  const usual = AbortSignal.timeout;
  let held = new AbortController();
  const spy = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((each) => (each === ms ? held.signal : usual.call(AbortSignal, each)));
  return {
    pass() {
      held.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      held = new AbortController();
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}

/**
 * How long a test waits for what a healthy system does: long enough for one busy core, and only a failure waits to its end.
 * A test about a deadline controls the clock or the peer instead.
 */
export const patienceMs = 90_000;

/** The limits of Vitest for a test or hook, which may wait for several things, and for `expect.poll`. */
export const testTimeouts = {
  testTimeout: 3 * patienceMs,
  hookTimeout: 3 * patienceMs,
  expect: { poll: { timeout: patienceMs, interval: 100 } },
};

/** A signal for work that a healthy system completes. */
export function patientSignal(): AbortSignal {
  return AbortSignal.timeout(patienceMs);
}

/** Settings with which services wait for a healthy peer on a slow machine. PROVIDER_TIMEOUT_MS has its largest value. */
export const patientSettings = { PROBE_TIMEOUT_MS: '90000', PROVIDER_TIMEOUT_MS: '7000' } as const;

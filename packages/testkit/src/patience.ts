/**
 * How long a test waits for what a healthy system does. Only a failure takes this long, so the value suits the slowest machine:
 * one busy core. A test about a deadline controls the clock or the peer instead.
 */
export const patienceMs = 90_000;

/** A signal for work that a healthy system completes. */
export function patientSignal(): AbortSignal {
  return AbortSignal.timeout(patienceMs);
}

/** Settings with which services wait for a healthy peer on a slow machine. The largest value of each. */
export const patientSettings = { PROBE_TIMEOUT_MS: '90000', PROVIDER_TIMEOUT_MS: '7000' } as const;

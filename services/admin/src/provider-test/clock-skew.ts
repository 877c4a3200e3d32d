import type { ProviderProfile } from '@echodrop/identity-provider/provider-profiles';
import { type Finding, ok, warn, wrong } from '../finding.ts';
import type { Completed } from './provider-queries.ts';

// The Date header has whole seconds.
const dateResolutionMs = 1000;
const harmlessMs = 30_000;
/** The skew that OAuth 1.0a providers accept between a signature's timestamp and their clock. */
const acceptedMs = 5 * 60_000;

interface Skew {
  /** Estimate in milliseconds; positive if the provider's clock is ahead of ours. */
  readonly estimate: number;
  /** Lower bound of the absolute skew. */
  readonly least: number;
}

/** The skew of the clock that wrote the Date header, which was valid for a second between request and response; undefined without one. */
export function skewOf({ response, begun, ended }: Completed): Skew | undefined {
  const date = Date.parse(response.headers.date ?? '');
  if (Number.isNaN(date)) return undefined;
  const max = date + dateResolutionMs - begun;
  const min = date - ended;
  return { estimate: (min + max) / 2, least: Math.max(0, min, -max) };
}

/** Whether the clocks differ by more than providers accept in signatures. */
export function isSkewTooLarge(attempt: Completed): boolean {
  return (skewOf(attempt)?.least ?? 0) >= acceptedMs;
}

export function clockFinding(attempt: Completed, { signsRequests }: ProviderProfile): Finding {
  const skew = skewOf(attempt);
  if (!skew) return warn('Its responses have no Date header, so its clock cannot be checked.');
  if (skew.least === 0) return ok('Its clock is in sync.');
  const { estimate } = skew;
  const difference = `Its clock is about ${formatDuration(Math.abs(estimate))} ${estimate > 0 ? 'ahead of' : 'behind'} ours`;
  if (skew.least < harmlessMs) return ok(`${difference}, which is harmless.`);
  if (!signsRequests) return warn(`${difference}. Correct one clock. Bearer tokens are not affected.`);
  return skew.least < acceptedMs
    ? warn(`${difference}. Correct one clock. Signatures may be off by at most 5 minutes.`)
    : wrong(`${difference}: the provider rejects signatures made here. Correct one clock.`);
}

/** Spells milliseconds to the second: `1 hr, 2 min`. */
function formatDuration(ms: number): string {
  const all = Math.round(ms / 1000);
  const hours = Math.floor(all / 3600);
  const minutes = Math.floor((all % 3600) / 60);
  const seconds = all % 60;
  const units = hours > 0 ? { hours, minutes } : { minutes, seconds };
  return new Intl.DurationFormat('en', { style: 'short' }).format(units) || '0 sec';
}

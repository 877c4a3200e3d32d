import type { ProviderProfile } from '@echodrop/identity-provider/provider-profiles';
import type { Answered } from './exchange.ts';
import { duration, type Finding, ok, warn, wrong } from './finding.ts';

// The header's grain.
const dateGrainMs = 1000;
const worthAWordMs = 30_000;
/** What providers of OAuth 1.0a bear between a signature's timestamp and their clock. */
const borneMs = 5 * 60_000;

interface Skew {
  /** How far its clock is ahead of ours, in milliseconds; behind is negative. */
  readonly about: number;
  /** That without its sign, and at least. */
  readonly least: number;
}

/**
 * How far the clock that wrote `Date` is ahead of ours: the header was true for a second, and was written some time between
 * question and answer. Undefined without such a header.
 */
export function skewOf({ answer, begun, ended }: Answered): Skew | undefined {
  const date = Date.parse(answer.headers.date ?? '');
  if (Number.isNaN(date)) return undefined;
  const most = date + dateGrainMs - begun;
  const least = date - ended;
  return { about: (least + most) / 2, least: Math.max(0, least, -most) };
}

/** Whether its clock is too far from ours for signatures. */
export function isTooFar(exchange: Answered): boolean {
  return (skewOf(exchange)?.least ?? 0) >= borneMs;
}

export function clockFinding(exchange: Answered, { signsRequests }: ProviderProfile): Finding {
  const skew = skewOf(exchange);
  if (!skew) return warn('Its answers carry no Date, so that its clock cannot be compared with ours.');
  if (skew.least === 0) return ok('Its clock agrees with ours, as far as its Date header tells.');
  const differs = `Its clock is about ${duration(Math.abs(skew.about))} ${skew.about > 0 ? 'ahead of' : 'behind'} ours`;
  if (skew.least < worthAWordMs) return ok(`${differs}, which does no harm.`);
  if (!signsRequests) return warn(`${differs}: one of the two wants setting, though bearer tokens do not mind.`);
  return skew.least < borneMs
    ? warn(`${differs}: one of the two wants setting, since a signature's time may be some 5 minutes off and no more.`)
    : wrong(`${differs}: signatures that are right in time here are out of time there, so one of the two must be set.`);
}

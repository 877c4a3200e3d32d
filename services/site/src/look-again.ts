import type { Request, Response } from 'express';

// A tab that was forgotten asks no longer: a film that is not there by then may be hours away.
const longestSeconds = 30 * 60;
const pause = { shortest: 2, longest: 30 };

/** Since when the reader of a pending page has been looking, in seconds of Unix time: its address says so from the second look on. */
export function lookingSince({ query }: Pick<Request, 'query'>, now = Date.now()): number | undefined {
  const { since } = query;
  const seconds = typeof since === 'string' && /^\d{1,10}$/.test(since) ? Number(since) : Number.POSITIVE_INFINITY;
  return seconds <= now / 1000 ? seconds : undefined;
}

/**
 * Lets the browser open `path` again by itself in a while, later and later, for half an hour in all. Gives whether it does. The header does it,
 * as people who read slowly may switch `meta` refreshes off, and nothing here needs a script.
 */
export function lookAgain(response: Response, path: string, since: number | undefined, now = Date.now()): boolean {
  const seconds = Math.floor(now / 1000);
  const looked = seconds - (since ?? seconds);
  if (looked > longestSeconds) return false;
  const wait = Math.round(Math.min(Math.max(looked / 4, pause.shortest), pause.longest));
  response.set('Refresh', `${wait}; url=${path}?since=${since ?? seconds}`);
  return true;
}

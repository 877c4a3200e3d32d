import type { Request, Response } from 'express';

// A tab that was forgotten asks no longer: a video that is not there by then may be hours away.
const longestSeconds = 30 * 60;
const pause = { shortest: 2, longest: 30 };

interface Look {
  /** Where the browser looks, below the site's own address. */
  readonly path: string;
  /** When that was uploaded which is still being processed. */
  readonly published: Date;
  /** Since when it has been looking, where its address says so. */
  readonly since: number | undefined;
}

/** Since when the reader of a pending page has been looking, in seconds of Unix time, where its address says so. */
export function lookingSince({ query }: Pick<Request, 'query'>, now = Date.now()): number | undefined {
  const { since } = query;
  const seconds = typeof since === 'string' && /^\d{1,10}$/.test(since) ? Number(since) : Number.POSITIVE_INFINITY;
  return seconds <= now / 1000 ? seconds : undefined;
}

/**
 * Lets the browser open a page again by itself, at longer and longer intervals, for half an hour at most. Gives whether it does. A header
 * does it: people who read slowly may switch `meta` refreshes off, and a header needs no script.
 *
 * What was uploaded just now has half an hour from then: the browser opens the same address anew, which keeps its place on the page and
 * adds nothing to its history. Of an older upload, whose renditions are made anew, only the address can tell how long was looked: `?since=`.
 */
export function lookAgain(response: Response, { path, published, since }: Look, now = Date.now()): boolean {
  const seconds = Math.floor(now / 1000);
  const age = seconds - Math.floor(published.getTime() / 1000);
  if (Math.abs(age) <= longestSeconds) {
    response.set('Refresh', String(pauseAfter(age)));
    return true;
  }
  const began = since ?? seconds;
  if (seconds - began > longestSeconds) return false;
  const address = `${path}${path.includes('?') ? '&' : '?'}since=${began}`;
  response.set('Refresh', `${pauseAfter(seconds - began)}; url=${address}`);
  return true;
}

function pauseAfter(seconds: number): number {
  return Math.round(Math.min(Math.max(seconds / 4, pause.shortest), pause.longest));
}

import type { Request, Response } from 'express';

// A forgotten tab stops reloading: a video that is not ready by then may take hours.
const maxSeconds = 30 * 60;
const pauseSeconds = { min: 2, max: 30 };

interface Refresh {
  /** The path that the browser reloads. */
  readonly path: string;
  /** When the pending upload was published. */
  readonly published: Date;
  /** When the browser began to reload, if its address says so. */
  readonly since: number | undefined;
}

/** When the browser began to reload a pending page, in Unix seconds, if its address says so. */
export function refreshingSince({ query }: Pick<Request, 'query'>, now = Date.now()): number | undefined {
  const { since } = query;
  const seconds = typeof since === 'string' && /^\d{1,10}$/.test(since) ? Number(since) : Number.POSITIVE_INFINITY;
  return seconds <= now / 1000 ? seconds : undefined;
}

/**
 * Makes the browser reload a page at increasing intervals, for at most half an hour, with a `Refresh` header: readers can switch off `meta`
 * refreshes, and it needs no script. For a new upload, the half hour begins at its publication, and the address stays, so that the browser
 * keeps scroll position and history. For an older one, whose renditions are made again, the address has the beginning: `?since=`.
 * @returns whether the browser reloads it
 */
export function refreshPage(response: Response, { path, published, since }: Refresh, now = Date.now()): boolean {
  const seconds = Math.floor(now / 1000);
  const age = seconds - Math.floor(published.getTime() / 1000);
  if (Math.abs(age) <= maxSeconds) {
    response.set('Refresh', String(pauseAfter(age)));
    return true;
  }
  const began = since ?? seconds;
  if (seconds - began > maxSeconds) return false;
  const address = `${path}${path.includes('?') ? '&' : '?'}since=${began}`;
  response.set('Refresh', `${pauseAfter(seconds - began)}; url=${address}`);
  return true;
}

function pauseAfter(seconds: number): number {
  return Math.round(Math.min(Math.max(seconds / 4, pauseSeconds.min), pauseSeconds.max));
}

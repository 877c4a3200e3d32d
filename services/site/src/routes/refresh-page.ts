import type { Response } from 'express';

const pauseSeconds = { min: 2, max: 30 };

/**
 * Makes the browser reload a page whose renditions are pending: after a quarter of the time since the upload was published, within limits.
 * A `Refresh` header needs no script, readers can switch off `meta` refreshes, and the same address keeps scroll position and history.
 */
export function refreshPage(response: Response, published: Date): void {
  const ageSeconds = (Date.now() - published.getTime()) / 1000;
  const pause = Math.min(Math.max(ageSeconds / 4, pauseSeconds.min), pauseSeconds.max);
  response.set('Refresh', String(Math.round(pause)));
}

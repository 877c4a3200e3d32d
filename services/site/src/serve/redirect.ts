import type { Response } from 'express';

/**
 * Leads to another of our addresses, `path`, for now or for good (301). Pages elsewhere that show what is there must be let through here too: browsers look at
 * the policy of each answer on the way (Fetch, "HTTP fetch").
 */
export function redirect(response: Response, path: string, status: 301 | 302 = 302): void {
  response
    .status(status)
    .set({
      Location: path,
      'Cache-Control': 'public, max-age=3600',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    })
    .end();
}

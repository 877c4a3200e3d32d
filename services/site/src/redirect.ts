import type { Response } from 'express';

/**
 * Leads to another of our addresses, `path`. Pages elsewhere that show what is there must be let through here too: browsers look at
 * the policy of each answer on the way (Fetch, "HTTP fetch").
 */
export function redirect(response: Response, path: string): void {
  response
    .status(302)
    .set({
      Location: path,
      'Cache-Control': 'public, max-age=3600',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    })
    .end();
}

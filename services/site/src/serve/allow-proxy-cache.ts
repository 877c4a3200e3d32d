import type { Response } from 'express';

/** How long a proxy may cache what the site remembers (docs/decisions/reading-cost-and-growth.md). */
export const proxySeconds = 4;

/** Allows a proxy to cache a complete response: nginx obeys this header (deploy/proxy/cache.conf), and removes it. Nginx would cache a 304 too. */
export function allowProxyCache(response: Response): void {
  if (!response.req.fresh) response.setHeader('X-Accel-Expires', proxySeconds);
}

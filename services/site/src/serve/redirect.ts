import type { Response } from 'express';

/** Redirects to a path of this site. Cross-origin policies apply to each redirect too, so that other sites can embed what follows. */
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

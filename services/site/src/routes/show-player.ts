import { isPhoto } from '@echodrop/media/media-type';
import type { RequestHandler } from 'express';
import { findMedia } from '../find/find-media.ts';
import { lookAgain, lookingSince } from '../find/look-again.ts';
import { pagePolicy } from '../pages/page-policy.ts';
import { playerPage } from '../pages/player-page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import type { Site } from '../site.ts';
import { untilGone } from './follow-request.ts';
import { findShown } from './show-page.ts';

/** `GET /<id>/player`: a video for other sites' frames; while it is being made, the frame looks again by itself. */
export function showPlayer(site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const signal = untilGone(response);
    const record = await findMedia(site, request.params.id, signal);
    if (typeof record === 'string') return sendProblem(response, record, site);
    if (isPhoto(record.type)) return sendProblem(response, 'not_found', site);

    const shown = await findShown(record, site, signal);
    if (typeof shown === 'string') return sendProblem(response, shown, site);
    const isPending = shown.video === 'not_ready';
    const look = { path: `/${record.id}/player`, published: record.timestamp, since: lookingSince(request) };
    const looksAgain = isPending && lookAgain(response, look);
    response.removeHeader('X-Frame-Options');
    response
      .set({
        'Cache-Control': 'no-cache',
        'Content-Security-Policy': pagePolicy({ framedBy: '*' }),
        'Cross-Origin-Resource-Policy': 'cross-origin',
      })
      .type('html')
      .send(playerPage(record, { ...shown, looksAgain }, site).toString());
  };
}

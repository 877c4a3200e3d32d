import { isPhoto } from '@echodrop/media/detect-media-type';
import type { RequestHandler } from 'express';
import { findView, isReloaded } from '../find/find-view.ts';
import { mediaPage } from '../pages/media-page.ts';
import { BuiltPage, pagePolicy } from '../pages/page.ts';
import { playerPage } from '../pages/player-page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { ResponseText } from '../serve/response-text.ts';
import type { Site } from '../site.ts';
import { sourcesFor } from './limit-requests.ts';
import { refreshPage } from './refresh-page.ts';

/** `GET /<id>`: the page of media. The browser reloads it until everything is ready. With `?wait=0`, as the upload page reads it, it waits for nothing. */
export function showPage(site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const waitMs = request.query['wait'] === '0' ? 0 : undefined;
    const found = await findView(request.params.id, sourcesFor(site, response), waitMs);
    if (typeof found === 'string') return sendProblem(response, found, site);
    const { record, view } = found;
    if (isReloaded(view)) refreshPage(response, record.timestamp);
    const build = () => new BuiltPage(mediaPage(record, view, site), site);
    site.memory.derive(`page ${JSON.stringify(view)} ${record.id}`, record, build).send(response, 200);
  };
}

/** `GET /<id>/player`: a video for frames in other sites. The frame reloads until the video is ready. */
export function showPlayer(site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const found = await findView(request.params.id, sourcesFor(site, response));
    if (typeof found === 'string') return sendProblem(response, found, site);
    const { record, view } = found;
    if (isPhoto(record.type)) return sendProblem(response, 'not_found', site);

    if (view.video === 'not_ready') refreshPage(response, record.timestamp);
    response.removeHeader('X-Frame-Options');
    response.type('html').set({
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': pagePolicy({ frameAncestors: '*' }),
      'Cross-Origin-Resource-Policy': 'cross-origin',
    });
    new ResponseText(playerPage(record, view, site).toString()).send(response);
  };
}

import { isPhoto } from '@echodrop/media/detect-media-type';
import type { RequestHandler } from 'express';
import { findView, isPending } from '../find/find-view.ts';
import { mediaPage } from '../pages/media-page.ts';
import { BuiltPage, pagePolicy } from '../pages/page.ts';
import { playerPage } from '../pages/player-page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { ResponseText } from '../serve/response-text.ts';
import type { Site } from '../site.ts';
import { sourcesFor } from './limit-requests.ts';
import { refreshingSince, refreshPage } from './refresh-page.ts';

/** `GET /<id>`: the page of media. The browser reloads it until everything is ready. With `?wait=0`, as the upload page reads it, it waits for nothing. */
export function showPage(site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const waitMs = request.query['wait'] === '0' ? 0 : undefined;
    const found = await findView(request.params.id, sourcesFor(site, response), waitMs);
    if (typeof found === 'string') return sendProblem(response, found, site);
    const { record, view } = found;
    const path = `/${record.id}`;
    const since = refreshingSince(request);
    // A reload for a poster would stop a video that plays.
    const shouldReload = view.video !== 'ready' && isPending(view);
    // Ends at the address of the record, which people copy.
    if (since !== undefined && !shouldReload) return response.redirect(302, path);
    const isReloading = shouldReload && refreshPage(response, { path, published: record.timestamp, since });
    const shown = { ...view, isReloading };
    const build = () => new BuiltPage(mediaPage(record, shown, site), site);
    site.memory
      .derive(`page ${JSON.stringify(shown)} ${record.id}`, record, build, ({ memoryBytes }) => memoryBytes)
      .send(response, 200);
  };
}

/** `GET /<id>/player`: a video for frames in other sites. The frame reloads until the video is ready. */
export function showPlayer(site: Site): RequestHandler<{ id: string }> {
  return async (request, response) => {
    const found = await findView(request.params.id, sourcesFor(site, response));
    if (typeof found === 'string') return sendProblem(response, found, site);
    const { record, view } = found;
    if (isPhoto(record.type)) return sendProblem(response, 'not_found', site);

    const refresh = { path: `/${record.id}/player`, published: record.timestamp, since: refreshingSince(request) };
    const isReloading = view.video === 'not_ready' && refreshPage(response, refresh);
    response.removeHeader('X-Frame-Options');
    response.type('html').set({
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': pagePolicy({ frameAncestors: '*' }),
      'Cross-Origin-Resource-Policy': 'cross-origin',
    });
    new ResponseText(playerPage(record, { ...view, isReloading }, site).toString()).send(response);
  };
}

import { xmlDocument } from '@echodrop/record';
import type { Request, RequestHandler, Response } from 'express';
import { mediaIdAt } from '../find/direct-address.ts';
import type { NoMedia } from '../find/find-media.ts';
import { findView } from '../find/find-view.ts';
import { type MaxSize, type Oembed, oembedOf } from '../pages/oembed.ts';
import { ResponseText } from '../serve/response-text.ts';
import type { Site } from '../site.ts';
import { sourcesFor } from './limit-requests.ts';

type Query = Request['query'];

/** `GET /oembed?url=&format=&maxwidth=&maxheight=` (oembed.com, section 2). Scripts of any site may read the response. */
export function showOembed(site: Site): RequestHandler {
  return async ({ query }, response) => {
    response.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-cache' });
    const { url, format = 'json' } = query;
    const max = maxSizeIn(query);
    if (typeof url !== 'string' || url === '') return refuse(response, 400, 'url: one address is required.');
    if (max === undefined) return refuse(response, 400, 'maxwidth, maxheight: must be positive integers.');
    if (format !== 'json' && format !== 'xml') return refuse(response, 501, 'format: must be json or xml.');

    const id = mediaIdAt(url, site.publicSite);
    const found = id === undefined ? 'not_found' : await findView(id, sourcesFor(site, response));
    if (typeof found === 'string') return refuseMissing(response, found);
    send(response, format, oembedOf(found.record, found.view, max, site));
  };
}

function maxSizeIn({ maxwidth, maxheight }: Query): MaxSize | undefined {
  const max = { width: pixelsIn(maxwidth), height: pixelsIn(maxheight) };
  return Number.isNaN(max.width) || Number.isNaN(max.height) ? undefined : max;
}

function pixelsIn(side: Query[string]): number | undefined {
  if (side === undefined || side === '') return undefined;
  return typeof side === 'string' && /^[1-9]\d{0,8}$/.test(side) ? Number(side) : Number.NaN;
}

function refuseMissing(response: Response, media: NoMedia): void {
  if (media === 'not_found') refuse(response, 404, 'url: no photo or video at this address.');
  else refuse(response, 410, 'url: this photo or video has been deleted.');
}

function refuse(response: Response, status: number, sentence: string): void {
  response.status(status).type('text').send(`${sentence}\n`);
}

function send(response: Response, format: 'json' | 'xml', oembed: Oembed): void {
  response.set('Cache-Control', `public, max-age=${oembed['cache_age']}`);
  const body = format === 'xml' ? xmlDocument({ oembed }) : jsonWithoutMarkup(oembed);
  new ResponseText(body).send(response.type(format === 'xml' ? 'text/xml' : 'json'));
}

/** Sites may insert the JSON into a page. */
function jsonWithoutMarkup(oembed: Oembed): string {
  return JSON.stringify(oembed).replace(/[<>&]/g, escapeJson);
}

function escapeJson(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}

import { xmlDocument } from '@echodrop/record';
import type { Request, RequestHandler, Response } from 'express';
import { findMedia, type NoMedia } from '../find/find-media.ts';
import { mediaIdAt } from '../find/media-address.ts';
import { type Oembed, oembedOf, type Room } from '../pages/oembed.ts';
import type { Site } from '../site.ts';
import { untilGone } from './follow-request.ts';
import { findShown } from './show-page.ts';

type Query = Request['query'];

/**
 * `GET /oembed?url=&format=&maxwidth=&maxheight=` (oembed.com, section 2): other sites' programs ask how to show an address of ours, so scripts
 * of any site may read the answer. 400 where the question is malformed; 404, 410 and 501 as there and as the page itself would say.
 */
export function showOembed(site: Site): RequestHandler {
  return async ({ query }, response) => {
    response.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-cache' });
    const { url, format = 'json' } = query;
    const room = roomIn(query);
    if (typeof url !== 'string' || url === '') return refuse(response, 400, 'url: name one address.');
    if (room === undefined) return refuse(response, 400, 'maxwidth, maxheight: whole numbers of pixels, from 1.');
    if (format !== 'json' && format !== 'xml') return refuse(response, 501, 'format: json or xml.');

    const signal = untilGone(response);
    const id = mediaIdAt(url, site.publicSite);
    const record = id === undefined ? 'not_found' : await findMedia(site, id, signal);
    if (typeof record === 'string') return refuseAbsent(response, record);
    const shown = await findShown(record, site, signal);
    if (typeof shown === 'string') return refuseAbsent(response, shown);
    send(response, format, oembedOf(record, shown, room, site));
  };
}

function roomIn({ maxwidth, maxheight }: Query): Room | undefined {
  const room = { width: pixelsIn(maxwidth), height: pixelsIn(maxheight) };
  return Number.isNaN(room.width) || Number.isNaN(room.height) ? undefined : room;
}

function pixelsIn(side: Query[string]): number | undefined {
  if (side === undefined || side === '') return undefined;
  return typeof side === 'string' && /^[1-9]\d{0,8}$/.test(side) ? Number(side) : Number.NaN;
}

function refuseAbsent(response: Response, media: NoMedia): void {
  if (media === 'not_found') refuse(response, 404, 'url: there is no photo and no video at this address.');
  else refuse(response, 410, 'url: what was there has been taken down.');
}

function refuse(response: Response, status: number, sentence: string): void {
  response.status(status).type('text').send(`${sentence}\n`);
}

// The JSON may end up in the middle of somebody's page: without these no text in it is a tag or a reference there.
const markup = /[<>&]/g;

function send(response: Response, format: 'json' | 'xml', oembed: Oembed): void {
  response.set('Cache-Control', `public, max-age=${oembed['cache_age']}`);
  if (format === 'xml') response.type('text/xml').send(xmlDocument({ oembed }));
  else response.type('json').send(JSON.stringify(oembed).replace(markup, escaped));
}

function escaped(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}

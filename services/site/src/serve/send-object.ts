import type { Readable } from 'node:stream';
import type { ByteRange, StoredObject } from '@echodrop/object-store/object-store';
import type { Request, Response } from 'express';
import { releaseRequestSlot } from '../routes/limit-requests.ts';
import type { Site } from '../site.ts';
import { allowProxyCache } from './allow-proxy-cache.ts';
import { copyObject } from './copy-object.ts';
import { type ObjectSources, openShared, readShared } from './open-shared.ts';

/** A file of the store, as browsers get it. */
export interface FoundFile {
  readonly object: StoredObject;
  /** Never from a client. */
  readonly contentType: string;
  /** For browsers that save the file; letters, digits and a dot. */
  readonly fileName?: string | undefined;
  /** Whether another object will soon be at this address. */
  readonly isReplacement: boolean;
}

/** The largest object that is sent at once, and that a proxy may cache. A reader who pauses holds as much of any other (copy-object.ts). */
export const maxSmallBytes = 64 * 1024;

// At most a day, so that removed uploads disappear.
const caching = { 'Cache-Control': 'public, max-age=86400' };
// Its entity tag differs from that of the object that follows.
const briefCaching = { 'Cache-Control': 'public, max-age=5' };

const publicHeaders = { 'Accept-Ranges': 'bytes', 'Cross-Origin-Resource-Policy': 'cross-origin' };

const pictureHeaders = { ...publicHeaders, 'Content-Security-Policy': "default-src 'none'; sandbox" };
// A browser that opens a video itself plays it in a sandboxed document, whose opaque origin fetches the video again.
const videoHeaders = {
  ...publicHeaders,
  'Content-Security-Policy': "default-src 'none'; sandbox; media-src 'self'",
  'Access-Control-Allow-Origin': '*',
};

/**
 * Sends an object with If-None-Match, If-Range, a single Range and HEAD (RFC 9110). False if the object no longer exists, or was replaced.
 * @throws StoreUnavailable before anything is sent; later the stream's own error, and the connection is closed
 */
export async function sendObject(
  response: Response,
  { object, contentType, fileName, isReplacement }: FoundFile,
  sources: ObjectSources & Pick<Site, 'robots'>,
): Promise<boolean> {
  const { req: request } = response;
  const etag = `"${object.etag}"`;
  const cached = isReplacement ? briefCaching : caching;
  const isUnchanged = matchesEtag(etag, request.get('If-None-Match'));
  const range = rangeOf(request, etag, object.size);
  const hasBody = request.method !== 'HEAD' && !isUnchanged && range !== 'unsatisfiable';
  const wanted = typeof range === 'string' ? { offset: 0, length: object.size } : range;
  const sendBody = hasBody ? await openBody(response, object, sources, wanted) : () => void response.end();
  if (!sendBody) return false;

  response.set('ETag', etag).set(headersOf(contentType, sources.robots));
  if (isUnchanged) {
    response.status(304).set(cached).end();
    return true;
  }
  if (range === 'unsatisfiable') {
    response.status(416).set('Content-Range', `bytes */${object.size}`).end();
    return true;
  }
  response.set(cached).set({ 'Content-Type': contentType, 'Content-Length': String(wanted.length) });
  if (fileName) response.set('Content-Disposition', `inline; filename="${fileName}"`);
  if (range !== 'whole') setRange(response, range, object.size);
  else if (object.size <= maxSmallBytes && !isReplacement) allowProxyCache(response);
  await sendBody();
  return true;
}

function headersOf(contentType: string, robots: Site['robots']): Record<string, string> {
  const headers = contentType.startsWith('video/') ? videoHeaders : pictureHeaders;
  return robots === 'noindex' ? { ...headers, 'X-Robots-Tag': 'noindex' } : headers;
}

/** Opens a range of an object, or takes it from memory; undefined if the object no longer exists, or was replaced. @returns a function that sends it */
async function openBody(
  response: Response,
  object: StoredObject,
  sources: ObjectSources,
  range: ByteRange,
): Promise<(() => Promise<void> | void) | undefined> {
  if (object.size <= maxSmallBytes) {
    const bytes = await readShared(object, sources);
    // Not with copyObject, which frees what it has sent.
    return bytes && (() => void response.end(bytes.subarray(range.offset, range.offset + range.length)));
  }
  const { store, signal } = sources;
  const body = (await openShared(object, sources, range)) ?? (await openStored(object, sources, range));
  return (
    body &&
    (async () => {
      releaseRequestSlot(response);
      await copyObject(body, response, { store, object, range, signal });
      response.end();
    })
  );
}

async function openStored(
  { key, etag }: StoredObject,
  { store, signal }: ObjectSources,
  range: ByteRange,
): Promise<Readable | undefined> {
  const reading = await store.read(key, { range, signal });
  if (reading?.etag === etag) return reading.body;
  reading?.body.destroy();
  return undefined;
}

// Express's `fresh` ignores If-None-Match with `Cache-Control: no-cache`, which fetch sends.
function matchesEtag(etag: string, ifNoneMatch: string | undefined): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}

function rangeOf(request: Request, etag: string, size: number): ReturnType<typeof parseRange> {
  const isWanted = request.method === 'GET' && (request.get('If-Range') ?? etag) === etag;
  return isWanted ? parseRange(request.get('Range'), size) : 'whole';
}

/** Parses a Range header (RFC 9110 section 14.1.2). Several ranges, other units and malformed ones are `whole`, as the RFC allows. */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return 'whole';
  const isReversed = first !== '' && last !== '' && Number(last) < Number(first);
  if (isReversed) return 'whole';

  const offset = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size);
  return offset < end ? { offset, length: end - offset } : 'unsatisfiable';
}

function setRange(response: Response, { offset, length }: ByteRange, size: number): void {
  response.status(206).set('Content-Range', `bytes ${offset}-${offset + length - 1}/${size}`);
}

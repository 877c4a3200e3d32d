import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ByteRange, ObjectStore, StoredObject } from '@echodrop/object-store/object-store';
import type { Request, Response } from 'express';
import type { Site } from '../site.ts';
import { askedRange } from './byte-range.ts';

interface Bytes {
  readonly store: ObjectStore;
  readonly object: StoredObject;
  /** From our own list, never from a client. */
  readonly contentType: string;
  /** What a browser is to call the file when it is saved; of letters, digits and a dot. */
  readonly fileName?: string;
  /** Whether search engines may list them. */
  readonly robots: Site['robots'];
  /** Aborted when the reader has gone. */
  readonly signal: AbortSignal;
}

// A day at most: what is taken down must go away.
const kept = { 'Cache-Control': 'public, max-age=86400' };

const publicHeaders = { 'Accept-Ranges': 'bytes', 'Cross-Origin-Resource-Policy': 'cross-origin' };

const pictureHeaders = { ...publicHeaders, 'Content-Security-Policy': "default-src 'none'; sandbox" };
// A video that is opened by itself plays in a document of the browser's making: being in the sandbox that is another site, and it
// fetches the video anew.
const videoHeaders = {
  ...publicHeaders,
  'Content-Security-Policy': "default-src 'none'; sandbox; media-src 'self'",
  'Access-Control-Allow-Origin': '*',
};

/**
 * Answers with an object's bytes: If-None-Match, If-Range, a single Range and HEAD as RFC 9110 has them. Of a range, only its bytes are read
 * from the store. Gives false, with nothing sent, where the object is no longer there.
 * @throws StoreUnavailable while nothing is sent yet; later the connection is cut, and the stream's own error thrown
 */
export async function serveBytes(request: Request, response: Response, bytes: Bytes): Promise<boolean> {
  const { size } = bytes.object;
  const etag = `"${bytes.object.etag}"`;
  const isUnchanged = isKnown(etag, request.get('If-None-Match'));
  const range = wantsRange(request, etag) ? askedRange(request.get('Range'), size) : 'whole';
  const hasBody = request.method !== 'HEAD' && !isUnchanged && range !== 'unsatisfiable';
  const body = hasBody ? await opened(bytes, range) : undefined;
  if (hasBody && !body) return false;

  response.set('ETag', etag).set(bytes.contentType.startsWith('video/') ? videoHeaders : pictureHeaders);
  if (bytes.robots === 'noindex') response.set('X-Robots-Tag', 'noindex');
  if (isUnchanged) {
    response.status(304).set(kept).end();
    return true;
  }
  if (range === 'unsatisfiable') {
    response.status(416).set('Content-Range', `bytes */${size}`).end();
    return true;
  }
  response.set(kept).set('Content-Type', bytes.contentType);
  if (bytes.fileName) response.set('Content-Disposition', `inline; filename="${bytes.fileName}"`);
  if (range === 'whole') response.set('Content-Length', String(size));
  else describe(response, range, size);
  if (body) await pipeline(body, response, { signal: bytes.signal });
  else response.end();
  return true;
}

// Not Express's `fresh`, which sends the whole to a client that says `Cache-Control: no-cache` too, as fetch does.
function isKnown(etag: string, known: string | undefined): boolean {
  const tags = known?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}

// A Range is for GET alone, and not for those who have bytes of another object to go on with.
function wantsRange(request: Request, etag: string): boolean {
  return request.method === 'GET' && (request.get('If-Range') ?? etag) === etag;
}

async function opened({ store, object, signal }: Bytes, range: ByteRange | 'whole'): Promise<Readable | undefined> {
  const reading = await store.read(object.key, range === 'whole' ? { signal } : { range, signal });
  return reading?.body;
}

function describe(response: Response, { offset, length }: ByteRange, size: number): void {
  response
    .status(206)
    .set({ 'Content-Range': `bytes ${offset}-${offset + length - 1}/${size}`, 'Content-Length': String(length) });
}

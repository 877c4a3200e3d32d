import { listNewest } from '@echodrop/archive/listing';
import { isOwnerHash } from '@echodrop/archive/owner';
import { pictureRecipes } from '@echodrop/media/recipes';
import type { StoredRecord } from '@echodrop/record';
import type { RequestHandler } from 'express';
import { isMediaGone, ofKnownType } from '../find/find-media.ts';
import { makeRendition, storedRendition } from '../find/find-rendition.ts';
import { lookAgain, lookingSince } from '../find/look-again.ts';
import { nameOf } from '../pages/media-title.ts';
import { sendPage } from '../pages/page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { olderPath, type UserUpload, type UserUploads, userPage } from '../pages/user-page.ts';
import type { Site } from '../site.ts';
import { untilGone } from './follow-request.ts';

const pageLength = 24;
// A page waits no longer for its small pictures than it takes to learn of those that cannot be made.
const thumbPatienceMs = 1000;

/** `GET /by/<hash>`: a user's uploads, newest first; `after` is the cursor of an older page. While small pictures are being made, the browser looks again by itself. */
export function showUser(site: Site): RequestHandler<{ owner: string }> {
  return async (request, response) => {
    const { owner } = request.params;
    const { after } = request.query;
    const isAsked = isOwnerHash(owner) && (after === undefined || typeof after === 'string');
    const found = isAsked && (await uploadsOf({ owner, after }, site, untilGone(response)));
    if (!found) return sendProblem(response, 'not_found', site);

    const { uploads, next } = found;
    const path = after === undefined ? `/by/${owner}` : olderPath(owner, after);
    const since = lookingSince(request);
    const pending = uploads.find(({ thumb }) => thumb === 'not_ready');
    if (since !== undefined && !pending) return response.redirect(302, path);
    if (pending) lookAgain(response, { path, published: pending.record.timestamp, since });
    const userName = uploads[0] && nameOf(uploads[0].record);
    const page = userPage({ owner, userName, uploads, isFirst: after === undefined, next }, site);
    sendPage(response, 200, page, site);
  };
}

/**
 * One page of a user's uploads as they can be shown, and the cursor of older ones; undefined where there is nothing, or `after` is no cursor.
 * @throws StoreUnavailable, or the signal's reason
 */
async function uploadsOf(
  asked: { readonly owner: string; readonly after: string | undefined },
  site: Site,
  signal: AbortSignal,
): Promise<Pick<UserUploads, 'uploads' | 'next'> | undefined> {
  const unreadable = (id: string) => site.events.recordUnreadable(id);
  const page = await listNewest(site.store, { ...asked, limit: pageLength, signal, unreadable }).catch(noCursor);
  if (!page) return undefined;
  const { records, next } = page;
  const looked = await Promise.all(records.map((record) => uploadOf(record, site, signal)));
  const uploads = looked.filter((upload) => upload !== undefined);
  return uploads.length > 0 || next !== undefined ? { uploads, next } : undefined;
}

/** An upload as the page shows it, after a short wait for a small picture that is missing; undefined where its type is unknown, or its media gone. */
async function uploadOf(stored: StoredRecord, site: Site, signal: AbortSignal): Promise<UserUpload | undefined> {
  const record = ofKnownType(stored);
  if (!record) {
    site.events.recordUnreadable(stored.id);
    return undefined;
  }
  const { thumb } = pictureRecipes;
  if (await storedRendition(record, thumb, site)) return { record, thumb: 'ready' };
  const { state } = await makeRendition(record, thumb, site, signal, thumbPatienceMs);
  const isGone = state === 'not_ready' && (await isMediaGone(record, site, signal));
  return isGone ? undefined : { record, thumb: state };
}

function noCursor(error: unknown): undefined {
  if (error instanceof RangeError) return undefined;
  throw error;
}

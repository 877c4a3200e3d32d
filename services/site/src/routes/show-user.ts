import { takeListSlot } from '@echodrop/archive/list-slots';
import { listNewest } from '@echodrop/archive/listing';
import { isOwnerHash } from '@echodrop/archive/owner';
import { pictureRecipes } from '@echodrop/media/rendition-recipes';
import type { RecordPage, StoredRecord } from '@echodrop/record';
import { networkOf } from '@echodrop/service/ip-address';
import type { RequestHandler } from 'express';
import { isMediaGone, unknownType, withKnownType } from '../find/find-media.ts';
import { makeRendition, storedRendition } from '../find/find-rendition.ts';
import { sendPage } from '../pages/page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { olderPath, type UserUpload, type UserUploads, userPage } from '../pages/user-page.ts';
import type { Site } from '../site.ts';
import { sourcesWithoutSlot } from './limit-requests.ts';
import { closeSignal } from './log-requests.ts';
import { refreshingSince, refreshPage } from './refresh-page.ts';

const pageLength = 24;
// Long enough to learn that a thumbnail is unsupported.
const thumbWaitMs = 1000;

/** `GET /by/<hash>?after=<cursor>`: a user's uploads, newest first. The browser isReloading the page until all thumbnails are ready. */
export function showUser(site: Site): RequestHandler<{ owner: string }> {
  return async (request, response) => {
    const { owner } = request.params;
    const { after } = request.query;
    if (!isOwnerHash(owner) || (after !== undefined && typeof after !== 'string'))
      return sendProblem(response, 'not_found', site);
    const page = await listPage({ owner, after }, site, request.ip, closeSignal(response));
    if (typeof page === 'string') return sendProblem(response, page, site);
    const found = await findUploads(page, sourcesWithoutSlot(site, response), closeSignal(response));
    if (!found) return sendProblem(response, 'not_found', site);

    const path = after === undefined ? `/by/${owner}` : olderPath(owner, after);
    const since = refreshingSince(request);
    const pending = found.uploads.find(({ thumb }) => thumb === 'not_ready');
    if (since !== undefined && !pending) return response.redirect(302, path);
    if (pending) refreshPage(response, { path, published: pending.record.timestamp, since });
    sendPage(response, 200, userPage(owner, found, after === undefined, site), site);
  };
}

/** `unavailable`: too many lists are read at once. `not_found`: `after` is no cursor. @throws StoreUnavailable, the signal's reason */
async function listPage(
  query: { readonly owner: string; readonly after: string | undefined },
  { store, events: { recordUnreadable: unreadable } }: Site,
  address: string | undefined,
  signal: AbortSignal,
): Promise<RecordPage<StoredRecord> | 'unavailable' | 'not_found'> {
  using held = new DisposableStack();
  if (!(await takeListSlot(networkOf(address ?? ''), held))) return 'unavailable';
  return await listNewest(store, { ...query, limit: pageLength, signal, unreadable }).catch((error) => {
    if (error instanceof RangeError) return 'not_found';
    throw error;
  });
}

/** Finds the thumbnails of a page; undefined if it has no uploads. @throws StoreUnavailable, the signal's reason */
async function findUploads(
  { records, next }: RecordPage<StoredRecord>,
  site: Site,
  signal: AbortSignal,
): Promise<UserUploads | undefined> {
  const found = await Promise.all(records.map((record) => findUpload(record, site, signal)));
  const uploads = found.filter((upload) => upload !== undefined);
  return uploads.length > 0 || next !== undefined ? { uploads, next } : undefined;
}

/** Waits briefly for a missing thumbnail. @returns undefined if the type is unknown or the media is gone */
async function findUpload(stored: StoredRecord, site: Site, signal: AbortSignal): Promise<UserUpload | undefined> {
  const record = withKnownType(stored);
  if (!record) return void site.events.recordUnreadable(stored.id, unknownType(stored));
  const { thumb } = pictureRecipes;
  if (await storedRendition(record, thumb, site)) return { record, thumb: 'ready' };
  const { state } = await makeRendition(record, thumb, site, signal, thumbWaitMs);
  const isGone = state === 'not_ready' && (await isMediaGone(record, site, signal));
  return isGone ? undefined : { record, thumb: state };
}

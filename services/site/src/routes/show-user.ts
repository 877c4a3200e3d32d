import { takeListSlot } from '@echodrop/archive/list-slots';
import { listNewest } from '@echodrop/archive/listing';
import { isOwnerHash } from '@echodrop/archive/owner';
import { pictureRecipes } from '@echodrop/media/rendition-recipes';
import type { RecordPage, StoredRecord } from '@echodrop/record';
import { networkOf } from '@echodrop/service/ip-address';
import type { RequestHandler } from 'express';
import { isMediaGone, textBytesOf, unknownType, withKnownType } from '../find/find-media.ts';
import { makeRendition, storedRendition } from '../find/find-rendition.ts';
import { BuiltPage } from '../pages/page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { olderPath, type UserUpload, type UserUploads, userPage } from '../pages/user-page.ts';
import type { Site } from '../site.ts';
import { releaseRequestSlot } from './limit-requests.ts';
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
    // Lists have slots of their own.
    releaseRequestSlot(response);
    const query = { owner, after, network: networkOf(request.ip ?? '') };
    const found = await rememberedUploads(query, site, closeSignal(response));
    if (typeof found === 'string') return sendProblem(response, found, site);

    const path = after === undefined ? `/by/${owner}` : olderPath(owner, after);
    const since = refreshingSince(request);
    const pending = found.uploads.find(({ thumb }) => thumb === 'not_ready');
    if (since !== undefined && !pending) return response.redirect(302, path);
    if (pending) refreshPage(response, { path, published: pending.record.timestamp, since });
    const build = () => new BuiltPage(userPage(owner, found, after === undefined, site), site);
    site.memory.derive(`page ${path}`, found, build, ({ bytes }) => bytes).send(response, 200);
  };
}

interface Query {
  readonly owner: string;
  readonly after: string | undefined;
  /** Of the client. */
  readonly network: string;
}

/** A page of a user's uploads, as `findUploads` finds it. It is remembered once all thumbnails are ready. */
function rememberedUploads(
  query: Query,
  site: Site,
  signal: AbortSignal,
): ReturnType<typeof findUploads> | Awaited<ReturnType<typeof findUploads>> {
  const { owner, after = '' } = query;
  const find = (cancelled: AbortSignal) => findUploads(query, site, cancelled);
  return site.memory.find(`uploads ${owner} ${after}`, signal, find, (found) =>
    typeof found === 'object' && found.uploads.every(({ thumb }) => thumb !== 'not_ready')
      ? found.uploads.reduce((sum, { record }) => sum + textBytesOf(record), 0)
      : undefined,
  );
}

/**
 * Finds a page of a user's uploads; `not_found` if there are none, or `after` is no cursor; `unavailable` if too many lists are read at once.
 * @throws StoreUnavailable, the signal's reason
 */
async function findUploads(
  query: Query,
  site: Site,
  signal: AbortSignal,
): Promise<UserUploads | 'unavailable' | 'not_found'> {
  const page = await listPage(query, site, signal);
  if (typeof page !== 'object') return page;
  const { records, next } = page;
  const found = await Promise.all(records.map((record) => findUpload(record, site, signal)));
  const uploads = found.filter((upload) => upload !== undefined);
  return uploads.length > 0 || next !== undefined ? { uploads, next } : 'not_found';
}

/** @throws StoreUnavailable, the signal's reason */
async function listPage(
  { network, ...query }: Query,
  { store, events: { recordUnreadable: unreadable } }: Site,
  signal: AbortSignal,
): Promise<RecordPage<StoredRecord> | 'unavailable' | 'not_found'> {
  using held = new DisposableStack();
  if (!(await takeListSlot(network, held))) return 'unavailable';
  return await listNewest(store, { ...query, limit: pageLength, signal, unreadable }).catch((error) => {
    if (error instanceof RangeError) return 'not_found';
    throw error;
  });
}

/** Waits briefly for a missing thumbnail. @returns undefined if the type is unknown or the media is gone */
async function findUpload(stored: StoredRecord, site: Site, signal: AbortSignal): Promise<UserUpload | undefined> {
  const record = withKnownType(stored);
  if (!record) return void site.events.recordUnreadable(stored.id, unknownType(stored));
  const { thumb } = pictureRecipes;
  if (await storedRendition(record, thumb, site, signal)) return { record, thumb: 'ready' };
  const { state } = await makeRendition(record, thumb, site, signal, thumbWaitMs);
  const isGone = state === 'not_ready' && (await isMediaGone(record, site, signal));
  return isGone ? undefined : { record, thumb: state };
}

import { takeListSlot } from '@echodrop/archive/list-slots';
import { listNewest } from '@echodrop/archive/listing';
import { isOwnerHash } from '@echodrop/archive/owner';
import { pictureRecipes } from '@echodrop/media/rendition-recipes';
import type { RecordPage, StoredRecord } from '@echodrop/record';
import { networkOf } from '@echodrop/service/ip-address';
import type { Request, RequestHandler } from 'express';
import { isMediaGone, textBytesOf, unknownType, withKnownType } from '../find/find-media.ts';
import { makeRendition, storedRendition } from '../find/find-rendition.ts';
import { BuiltPage } from '../pages/page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import { olderPath, type UserUpload, type UserUploads, userPage } from '../pages/user-page.ts';
import type { RequestSources, Site } from '../site.ts';
import { releaseRequestSlot, sourcesFor } from './limit-requests.ts';
import { refreshPage } from './refresh-page.ts';

const pageLength = 24;
// Long enough to learn that a thumbnail is unsupported.
const thumbWaitMs = 1000;

/** `GET /by/<hash>?after=<cursor>`: a user's uploads, newest first. The browser reloads the page until all thumbnails are ready. */
export function showUser(site: Site): RequestHandler<{ owner: string }> {
  return async (request, response) => {
    // Lists have slots of their own.
    releaseRequestSlot(response);
    const sources = sourcesFor(site, response);
    const list = await findList(request, sources);
    if (typeof list === 'string') return sendProblem(response, list, site);
    const found = await findUploads(list, sources);
    if (!found) return sendProblem(response, 'not_found', site);

    const { owner } = request.params;
    const after = cursorIn(request);
    const path = after === undefined ? `/by/${owner}` : olderPath(owner, after);
    const pending = found.uploads.find(({ thumb }) => thumb === 'not_ready');
    if (pending) refreshPage(response, pending.record.timestamp);
    const build = () => new BuiltPage(userPage(owner, found, after === undefined, site), site);
    const shown = found.uploads.map(({ record, thumb }) => [record.id, thumb]);
    site.memory.derive(`page ${path} ${JSON.stringify(shown)}`, list, build).send(response, 200);
  };
}

type List = RecordPage<StoredRecord>;
type UserRequest = Request<{ owner: string }>;

/** Undefined for the first page; otherwise perhaps no cursor. */
function cursorIn({ query: { after } }: UserRequest): string | undefined {
  return after === undefined ? after : String(after);
}

/**
 * A page of a user's list; `not_found` without a valid owner or cursor, `unavailable` if too many lists are read at once. A client takes a slot before it
 * joins the read of another: it must not wait for the turn of another network. @throws StoreUnavailable, the signal's reason
 */
async function findList(
  request: UserRequest,
  { store, memory, signal, events: { recordUnreadable: unreadable } }: RequestSources,
): Promise<List | 'unavailable' | 'not_found'> {
  const { owner } = request.params;
  const after = cursorIn(request);
  if (!isOwnerHash(owner)) return 'not_found';
  using held = new DisposableStack();
  if (!(await takeListSlot(networkOf(request.ip ?? ''), held))) return 'unavailable';
  const read = (cancelled: AbortSignal) =>
    listNewest(store, { owner, after, limit: pageLength, signal: cancelled, unreadable });
  // An upload may be published at any time, so a user without one is not remembered.
  const bytesOf = ({ records }: List) =>
    records.length > 0 ? records.reduce((sum, record) => sum + textBytesOf(record), 0) : undefined;
  try {
    return await memory.find(`list ${JSON.stringify([owner, after])}`, signal, read, bytesOf);
  } catch (error) {
    if (error instanceof RangeError) return 'not_found';
    throw error;
  }
}

/** The uploads of a list, with the states of their thumbnails; undefined if there are none. @throws StoreUnavailable, the signal's reason */
async function findUploads({ records, next }: List, sources: RequestSources): Promise<UserUploads | undefined> {
  const found = await Promise.all(records.map((record) => findUpload(record, sources)));
  const uploads = found.filter((upload) => upload !== undefined);
  return uploads.length > 0 || next !== undefined ? { uploads, next } : undefined;
}

/** Waits briefly for a missing thumbnail. @returns undefined if the type is unknown or the media is gone */
async function findUpload(stored: StoredRecord, sources: RequestSources): Promise<UserUpload | undefined> {
  const record = withKnownType(stored);
  if (!record) return void sources.events.recordUnreadable(stored.id, unknownType(stored));
  const { thumb } = pictureRecipes;
  if (await storedRendition(record, thumb, sources)) return { record, thumb: 'ready' };
  const made = await makeRendition(record, thumb, sources, thumbWaitMs);
  const isGone = made === 'not_ready' && (await isMediaGone(record, sources));
  return isGone ? undefined : { record, thumb: typeof made === 'string' ? made : 'ready' };
}

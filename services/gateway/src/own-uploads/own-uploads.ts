import { holdsListSlot, takeListSlot } from '@echodrop/archive/list-slots';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import { tryFindRecord } from '@echodrop/archive/records';
import { finishRemoval, removeMedia } from '@echodrop/archive/remove-media';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import { findTwice } from '@echodrop/object-store/find-twice';
import { recordKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import {
  isMediaId,
  isTombstone,
  type RecordPage,
  type StoredRecord,
  type Tombstone,
  UnreadableRecord,
} from '@echodrop/record';
import { credentialsFromHeaders, requireCaller } from '../admit/credentials.ts';
import type { Slot } from '../admit/slots.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { RequestContext } from '../upload-context.ts';
import type { OwnUploadEvents } from './own-upload-events.ts';

/** A user's request about their own uploads. It holds its slot until the response is complete. */
export interface OwnRequest extends RequestContext {
  readonly slot: Pick<Slot, 'excuse' | 'moveToUser'>;
}

export interface OwnUploadDeps {
  readonly verifier: Pick<VerificationClient, 'knownProviders' | 'verify'>;
  readonly store: ObjectStore;
  readonly compatibility: 'strict' | 'historic';
  readonly events: Pick<OwnUploadEvents, 'removalStarted' | 'recordUnreadable'>;
}

/** The caller's readable uploads, newest first. @throws Refusal, ClientGone, RangeError for an invalid `after`, a dependency's failure */
export async function listOwn(
  own: OwnRequest,
  page: { readonly after?: string | undefined; readonly limit: number },
  deps: OwnUploadDeps,
): Promise<RecordPage<StoredRecord>> {
  const { requestId, signal } = own;
  const owner = await ownerOf(own, deps);
  using held = new DisposableStack();
  if (!(await takeListSlot(owner, held)))
    throw holdsListSlot(owner)
      ? new Refusal('too_many_requests', { message: 'userUploads' })
      : new Refusal('overloaded');
  const unreadable = (mediaId: string, error: UnreadableRecord) =>
    deps.events.recordUnreadable(requestId, mediaId, error);
  return await listNewest(deps.store, { ...page, owner, signal, unreadable });
}

/** An upload of the caller. @throws Refusal `removed`, `not_yours`, `not_found` and others, ClientGone, or the failure of a dependency */
export function findOwn(own: OwnRequest, id: string, deps: OwnUploadDeps): Promise<StoredRecord> {
  return withOwn(own, id, deps, async (found) => {
    if (isTombstone(found)) throw new Refusal('removed');
    return found;
  });
}

/** Removes an upload of the caller. @throws Refusal `not_yours`, `not_found` and others, ClientGone, or the failure of a dependency */
export function removeOwn(own: OwnRequest, id: string, deps: OwnUploadDeps): Promise<void> {
  const { store, events } = deps;
  return withOwn(own, id, deps, async (found) => {
    if (isTombstone(found)) {
      await finishRemoval(store, found);
      throw new Refusal('not_found', { message: 'upload' });
    }
    events.removalStarted(own.requestId, found);
    await removeMedia(store, found, { by: 'owner', at: new Date() });
  });
}

/** Calls `use` with an upload of the caller, or with its tombstone. */
async function withOwn<T>(
  own: OwnRequest,
  id: string,
  deps: OwnUploadDeps,
  use: (found: StoredRecord | Tombstone) => Promise<T>,
): Promise<T> {
  const { requestId, signal } = own;
  const { store, events } = deps;
  const owner = await ownerOf(own, deps);
  const found = (await tryFindRecord(store, id, signal)) ?? (await findListed(store, id, signal));
  if (!found) throw new Refusal('not_found', { message: 'upload' });
  if (found instanceof UnreadableRecord) {
    events.recordUnreadable(requestId, id, found);
    // 503 would promise that a retry helps. The message of `internal_error` sends the user to the operator.
    throw new Refusal('internal_error', { cause: found });
  }
  const isOwn = owner === (isTombstone(found) ? found.owner : ownerHash(found));
  if (!isOwn) throw isTombstone(found) ? new Refusal('not_found', { message: 'upload' }) : new Refusal('not_yours');
  return await use(found);
}

/**
 * Looks for a record that the store did not find. A node of MinIO that has just come back misses recent writes for a moment, although it
 * lists them (`exists` does): a 404 would mislead the owner. @throws StoreUnavailable if it stays listed and missing
 */
async function findListed(store: ObjectStore, id: string, signal: AbortSignal) {
  if (!isMediaId(id) || !(await store.exists(recordKey(id)))) return undefined;
  const found = await findTwice(store, () => tryFindRecord(store, id, signal), signal);
  if (!found) throw new StoreUnavailable('record listed but missing');
  return found;
}

/** The verified user, as owner of uploads. The slot then counts for this user. @throws Refusal, ClientGone, VerifierUnavailable */
async function ownerOf({ request, clientAddress, signal, slot }: OwnRequest, deps: OwnUploadDeps): Promise<string> {
  const credentials = await credentialsFromHeaders(request.headers, deps.verifier, deps.compatibility);
  const verdict = await deps.verifier.verify({ credentials, clientAddress }, signal);
  const owner = ownerHash(requireCaller(verdict, credentials, slot));
  slot.excuse();
  slot.moveToUser(owner);
  return owner;
}

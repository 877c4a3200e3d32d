import { setTimeout as sleep } from 'node:timers/promises';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import { findRecord } from '@echodrop/archive/records';
import { finishRemoval, removeMedia } from '@echodrop/archive/remove-media';
import type { Caller } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isMediaId, isTombstone, type RecordPage, type StoredRecord, type Tombstone } from '@echodrop/record';
import type { Admission } from '../admit/admission.ts';
import { credentialsFromHeaders, requireCaller } from '../admit/credentials.ts';
import type { Slot } from '../admit/slots.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { RequestContext } from '../upload-context.ts';
import type { OwnUploadEvents } from './own-upload-events.ts';

// Longer than a returning node of MinIO was seen to miss writes.
const rereadMs = 2500;

export interface OwnUploadDeps {
  readonly admission: Pick<Admission, 'admitOwnRequest'>;
  readonly verifier: Pick<VerificationClient, 'knownProviders' | 'verify'>;
  readonly store: ObjectStore;
  readonly compatibility: 'strict' | 'historic';
  readonly events: Pick<OwnUploadEvents, 'removalStarted' | 'recordUnreadable'>;
}

/** The caller's readable uploads, newest first. @throws Refusal, ClientGone, RangeError for an invalid `after`, a dependency's failure */
export async function listOwn(
  context: RequestContext,
  page: { readonly after?: string | undefined; readonly limit: number },
  deps: OwnUploadDeps,
): Promise<RecordPage<StoredRecord>> {
  const { requestId, clientAddress, signal } = context;
  using slot = deps.admission.admitOwnRequest(clientAddress);
  const owner = ownerHash(await callerOf(context, slot, deps));
  slot.markVerified();
  const unreadable = (mediaId: string) => deps.events.recordUnreadable(requestId, mediaId);
  return await listNewest(deps.store, { ...page, owner, signal, unreadable });
}

/** An upload of the caller. @throws Refusal `removed`, `not_yours`, `not_found` and others, ClientGone, or the failure of a dependency */
export function findOwn(context: RequestContext, id: string, deps: OwnUploadDeps): Promise<StoredRecord> {
  return withOwn(context, id, deps, async (found) => {
    if (isTombstone(found)) throw new Refusal('removed');
    return found;
  });
}

/** Removes an upload of the caller. @throws Refusal `not_yours`, `not_found` and others, ClientGone, or the failure of a dependency */
export function removeOwn(context: RequestContext, id: string, deps: OwnUploadDeps): Promise<void> {
  const { store, events } = deps;
  return withOwn(context, id, deps, async (found) => {
    if (isTombstone(found)) {
      await finishRemoval(store, found);
      throw new Refusal('not_found', { message: 'upload' });
    }
    events.removalStarted(context.requestId, found);
    await removeMedia(store, found, { by: 'owner', at: new Date() });
  });
}

/** Calls `use` with an upload of the caller, or with what remains of a removed one. */
async function withOwn<T>(
  context: RequestContext,
  id: string,
  deps: OwnUploadDeps,
  use: (found: StoredRecord | Tombstone) => Promise<T>,
): Promise<T> {
  const { clientAddress, signal } = context;
  const { admission, store } = deps;
  using slot = admission.admitOwnRequest(clientAddress);
  const caller = await callerOf(context, slot, deps);
  // The search may take long: until it ends, the request counts against the limits of its address.
  slot.excuse();
  const found = (await findRecord(store, id, signal)) ?? (await findAgain(store, id, signal));
  if (!found) throw new Refusal('not_found', { message: 'upload' });
  slot.markVerified();
  const isOwn = ownerHash(caller) === (isTombstone(found) ? found.owner : ownerHash(found));
  if (!isOwn) throw isTombstone(found) ? new Refusal('not_found', { message: 'upload' }) : new Refusal('not_yours');
  return await use(found);
}

// A node of MinIO that has just come back misses recent writes for a moment: a 404 would mislead the owner.
async function findAgain(store: ObjectStore, id: string, signal: AbortSignal) {
  if (!isMediaId(id)) return undefined;
  await sleep(rereadMs, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
  return findRecord(store, id, signal);
}

async function callerOf(
  { request, clientAddress, signal }: RequestContext,
  slot: Slot,
  deps: OwnUploadDeps,
): Promise<Caller> {
  const credentials = await credentialsFromHeaders(request.headers, deps.verifier, deps.compatibility);
  return requireCaller(await deps.verifier.verify({ credentials, clientAddress }, signal), credentials, slot);
}

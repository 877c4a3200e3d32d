import { setTimeout as sleep } from 'node:timers/promises';
import { findRecord } from '@echodrop/archive/find-record';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import { finishRemoval, removeMedia } from '@echodrop/archive/remove-media';
import type { Caller } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isMediaId, isTombstone, type RecordPage, type StoredRecord } from '@echodrop/record';
import { credentialsFromHeaders, requireCaller } from '../admit/credentials.ts';
import type { Slot } from '../admit/slots.ts';
import { Refusal } from '../answer/refusals.ts';
import type { Upload } from '../upload.ts';

// Longer than such a node was seen to take (every-record.ts).
const rereadMs = 2500;

/** A request about what its user has uploaded; who that is, its headers say as in version 2. */
export type OwnRequest = Pick<Upload, 'request' | 'clientAddress' | 'gone'>;

export interface OwnParts {
  readonly admission: {
    readonly slot: (clientAddress: string) => Pick<Slot, 'proven' | 'verified' | typeof Symbol.dispose>;
  };
  readonly verifier: VerificationClient;
  readonly store: ObjectStore;
  readonly compatibility: 'strict' | 'historic';
  /** Hears of each removal before it begins: one that is cut short is told too. */
  readonly removing: (record: StoredRecord) => void;
  /** Hears of each record that cannot be read, which is in no list. */
  readonly unreadable: (mediaId: string) => void;
}

/** The uploads of the user, newest first. @throws Refusal, ClientGone, RangeError where `after` is no cursor, or what is broken */
export async function listOwn(
  own: OwnRequest,
  page: { readonly after?: string | undefined; readonly limit: number },
  parts: OwnParts,
): Promise<RecordPage<StoredRecord>> {
  using slot = parts.admission.slot(own.clientAddress);
  const owner = ownerHash(await callerOf(own, parts));
  slot.verified();
  return await listNewest(parts.store, { ...page, owner, signal: own.gone, unreadable: parts.unreadable });
}

/** Removes an upload of the user. @throws Refusal `not_yours`, `not_found` and others, ClientGone, or what is broken */
export async function removeOwn(own: OwnRequest, id: string, parts: OwnParts): Promise<void> {
  using slot = parts.admission.slot(own.clientAddress);
  const caller = await callerOf(own, parts);
  // The look may take long: until then it counts against the limits of its address.
  slot.proven();
  const found = (await findRecord(parts.store, id, own.gone)) ?? (await findAgain(parts.store, id, own.gone));
  if (!found) throw new Refusal('not_found');
  slot.verified();
  const isTheirs = ownerHash(caller) === (isTombstone(found) ? found.owner : ownerHash(found));
  if (isTombstone(found)) {
    if (isTheirs) await finishRemoval(parts.store, found);
    throw new Refusal('not_found');
  }
  if (!isTheirs) throw new Refusal('not_yours');
  parts.removing(found);
  await removeMedia(parts.store, found, { by: 'owner', at: new Date() });
}

// A node of MinIO that has just come back misses for a moment what was written meanwhile. A 404 would tell its owner that it is gone.
async function findAgain(store: ObjectStore, id: string, gone: AbortSignal) {
  if (!isMediaId(id)) return undefined;
  await sleep(rereadMs, undefined, { signal: gone }).catch(() => {});
  gone.throwIfAborted();
  return findRecord(store, id, gone);
}

async function callerOf({ request, clientAddress, gone }: OwnRequest, parts: OwnParts): Promise<Caller> {
  const credentials = await credentialsFromHeaders(request.headers, parts.verifier, parts.compatibility);
  return requireCaller(await parts.verifier.verify({ credentials, clientAddress }, gone));
}

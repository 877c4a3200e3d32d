import { findResumable, type ResumableUpload } from '@echodrop/archive/resumable-uploads';
import type { Caller } from '@echodrop/contracts/verification';
import type { Published } from '../idempotency/idempotency.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { ResumableDeps } from './resumable-deps.ts';

/** The last state of an upload of this caller. @throws Refusal `not_found`, `upload_expired`; StoreUnavailable */
export async function findOwnUpload(
  { provider, subject }: Caller,
  id: string,
  { store, lastStates }: Pick<ResumableDeps, 'store' | 'lastStates'>,
): Promise<ResumableUpload> {
  const upload = await findResumable(store, id, lastStates.get(id));
  if (upload?.state.provider !== provider || upload.state.subject !== subject)
    throw new Refusal('not_found', { message: 'resumable' });
  if (upload.state.expires.getTime() < Date.now()) throw new Refusal('upload_expired');
  lastStates.set(id, upload.number);
  return upload;
}

/** The record of a published upload. @throws Refusal `removed`; StoreUnavailable */
export async function findPublished({ state }: ResumableUpload, { records }: ResumableDeps): Promise<Published> {
  const record = await records.find(state.mediaId ?? '', state);
  if (!record) throw new Refusal('not_found', { message: 'resumable' });
  return { record, isRepeat: true };
}

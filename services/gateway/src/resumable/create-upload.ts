import { createResumable, type ResumableUpload } from '@echodrop/archive/resumable-uploads';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { newStagedWrite } from '@echodrop/object-store/staged-write';
import { idempotencyKeyOf } from '../idempotency/idempotency.ts';
import { requireParameters } from '../receive/complete-upload.ts';
import { requireFittingAlt } from '../receive/form-content.ts';
import { ReceivedNames } from '../receive/received-names.ts';
import type { ResumableDeps } from './resumable-deps.ts';
import { spellMetadata } from './tus-headers.ts';
import type { AdmittedRequest, LeasedRequest } from './tus-request.ts';
import { keptMetadata, namesOfMetadata, parametersOfMetadata } from './upload-metadata.ts';
import { saveState } from './upload-state.ts';

/**
 * Creates an upload under `id`, with the parameters of `Upload-Metadata`.
 * @throws Refusal for missing or malformed parameters, blocks and limits; StoreUnavailable
 */
export async function createUpload(
  { context, caller, admitted }: AdmittedRequest,
  id: string,
  length: number | undefined,
  { store, forms, apiKeys, expiryMs }: ResumableDeps,
): Promise<ResumableUpload> {
  const { headers } = context.request;
  const metadata = spellMetadata(headers['upload-metadata']?.toString() ?? '');
  const fields = parametersOfMetadata(metadata);
  requireFittingAlt(fields.get('alt') ?? '');
  const media = length === 0 ? undefined : true;
  const received = new ReceivedNames([...namesOfMetadata(metadata), ...(media ? [] : ['media'])]);
  const parameters = { fields, media, misplaced: new Map(), received };
  const { message, alt, application } = requireParameters(parameters, apiKeys, forms.compatibility);
  const idempotencyKey = idempotencyKeyOf(headers);
  await admitted.admitApplication(application);
  const mediaKey = newMediaKey();
  return createResumable(store, id, {
    expires: new Date(Date.now() + expiryMs),
    provider: caller.provider,
    subject: caller.subject,
    metadata: keptMetadata(metadata),
    ...{ application, message, alt, idempotencyKey, length, mediaKey },
    head: '',
    write: newStagedWrite(mediaObjectKey(mediaKey), 'application/octet-stream'),
    isPublished: false,
  });
}

/** Declares the length of an upload that has none. */
export async function declareLength(request: LeasedRequest, length: number, deps: ResumableDeps): Promise<void> {
  await saveState(request, { length }, deps);
}

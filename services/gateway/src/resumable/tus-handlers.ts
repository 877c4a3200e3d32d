import { ownerHash } from '@echodrop/archive/owner';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import { isMediaKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { publicRecord, recordToJson } from '@echodrop/record';
import type { Admission } from '../admit/admission.ts';
import { credentialsFromHeaders, requireCaller } from '../admit/credentials.ts';
import type { Published } from '../idempotency/idempotency.ts';
import { contentTypes } from '../response/format.ts';
import { mediaTooLarge, Refusal } from '../response/refusal-error.ts';
import type { UploadContext } from '../upload-context.ts';
import { appendBytes, requireFittingBytes, requireNoBytes } from './append-bytes.ts';
import { findOwnUpload, type LeasedRequest, type OpenUpload, startUpload } from './open-upload.ts';
import { type PublishDeps, publishIfComplete, removeUnpublished } from './publish-upload.ts';
import { checksumAlgorithms, refuseHeader, type TusHeaders, tusContentType, tusVersion } from './tus-headers.ts';
import type { WriterLeases } from './writer-leases.ts';

export interface HandlerDeps extends PublishDeps {
  readonly leases: WriterLeases;
  readonly admission: Admission;
  readonly verifier: Pick<VerificationClient, 'knownProviders' | 'verify'>;
  /** The site's address, without a final slash. */
  readonly publicSite: string;
}

/** One request of the protocol. */
export interface TusRequest {
  readonly context: UploadContext;
  readonly headers: TusHeaders;
  /** The last part of the path: the id of an upload, or an empty text for a creation. */
  readonly id: string;
  /** The address of all uploads. The address of one upload is this and its id. */
  readonly address: string;
}

export interface TusResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The record of the upload, if the upload is published. */
  readonly published?: Published | undefined;
}

const extensions = 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum';
// Each handler follows the sentences that it quotes: https://tus.io/protocols/resumable-upload, version 1.0.0.

/**
 * "A successful response indicated by the 204 No Content or 200 OK status MUST contain the `Tus-Version` header. It MAY include the
 * `Tus-Extension` and `Tus-Max-Size` headers." "The `Tus-Checksum-Algorithm` header MUST be included in the response to an OPTIONS request."
 */
export function describeServer({ forms }: HandlerDeps): TusResponse {
  const limits = { 'Tus-Max-Size': `${forms.maxMediaBytes}`, 'Tus-Checksum-Algorithm': checksumAlgorithms.join(',') };
  return { status: 204, headers: { 'Tus-Version': tusVersion, 'Tus-Extension': extensions, ...limits } };
}

/**
 * "The request MUST include one of the following headers: a) `Upload-Length` to indicate the size of an entire upload in bytes.
 * b) `Upload-Defer-Length: 1` if upload size is not known at the time." "If the length of the upload exceeds the maximum […] the Server MUST
 * respond with the 413 Request Entity Too Large status." "The Server MUST acknowledge a successful upload creation with the 201 Created status.
 * The Server MUST set the `Location` header to the URL of the created resource." With bytes, "the Server MUST include the `Upload-Offset` header".
 */
export async function createUpload(request: TusRequest, deps: HandlerDeps): Promise<TusResponse> {
  const { context, headers } = request;
  const { length, isLengthDeferred, isConcatenation, hasBytesType } = headers;
  const requestHeaders = context.request.headers;
  if (!hasBytesType && Number(requestHeaders['content-length'] ?? 0) > 0) throw tusContentType(requestHeaders);
  // A 5xx for a missing extension would be retried in vain.
  if (isConcatenation) throw new Refusal('tus_malformed', { message: 'concatenation' });
  if ((length === undefined) !== isLengthDeferred) refuseHeader('Upload-Length');
  if (length !== undefined && length > deps.forms.maxMediaBytes) throw mediaTooLarge(deps.forms.maxMediaBytes);

  const id = newMediaKey();
  await using leased = await admitAndLease(request, id, true, deps);
  if (!hasBytesType) await requireNoBytes(context, deps);
  const upload = await startUpload(leased, id, headers, deps);
  const location = { Location: `${request.address}/${id}` };
  if (!hasBytesType) return { status: 201, headers: { ...location, ...expiryOf(upload) } };
  requireFittingBytes(leased, upload, deps);
  await appendBytes(leased, upload, deps);
  const response = acknowledge(request, 201, upload, await publishIfComplete(leased, upload, deps), deps);
  return { ...response, headers: { ...response.headers, ...location } };
}

/**
 * "The Server MUST always include the `Upload-Offset` header […]. If the size of the upload is known, the Server MUST include the `Upload-Length`
 * header in the response." Otherwise it "MUST set `Upload-Defer-Length: 1`". "If an upload contains additional metadata, responses to HEAD
 * requests MUST include the `Upload-Metadata` header and its value as specified by the Client during the creation."
 */
export async function findOffset(request: TusRequest, deps: HandlerDeps): Promise<TusResponse> {
  await using leased = await admitAndLease(request, request.id, false, deps);
  const upload = await findOwnUpload(leased, request.id, deps);
  const published = await publishIfComplete(leased, upload, deps);
  const { length, write, metadata } = upload.state;
  const headers = {
    'Upload-Offset': `${write.size}`,
    ...(length === undefined ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': `${length}` }),
    ...(metadata !== '' && { 'Upload-Metadata': metadata }),
    ...expiryOf(upload),
  };
  return { status: 200, headers, published };
}

/** The record of a published upload. The protocol has no GET. */
export async function findRecord(request: TusRequest, deps: HandlerDeps): Promise<TusResponse> {
  const { published } = await findOffset(request, deps);
  if (!published) throw new Refusal('upload_incomplete');
  return { status: 200, ...representationOf(published, deps), published };
}

/**
 * "All PATCH requests MUST use `Content-Type: application/offset+octet-stream`, otherwise the server SHOULD return a 415 Unsupported Media Type
 * status. The `Upload-Offset` header's value MUST be equal to the current offset of the resource. […] If the offsets do not match, the Server MUST
 * respond with the 409 Conflict status without modifying the upload resource." A deferred length: "Once it is known the Client MUST set the
 * `Upload-Length` header in the next PATCH request. Once set the length MUST NOT be changed."
 */
export async function addBytes(request: TusRequest, deps: HandlerDeps): Promise<TusResponse> {
  const { offset, length, hasBytesType } = request.headers;
  if (!hasBytesType) throw tusContentType(request.context.request.headers);
  if (offset === undefined) refuseHeader('Upload-Offset');

  await using leased = await admitAndLease(request, request.id, false, deps);
  const upload = await findOwnUpload(leased, request.id, deps);
  let published = await publishIfComplete(leased, upload, deps);
  if (offset !== upload.state.write.size) throw new Refusal('offset_conflict');
  if (length !== undefined) await declareLength(upload, length, deps);
  requireFittingBytes(leased, upload, deps);
  if (!published) {
    await appendBytes(leased, upload, deps);
    published = await publishIfComplete(leased, upload, deps);
  }
  return acknowledge(request, 204, upload, published, deps);
}

/** "The Server SHOULD free associated resources and MUST respond with the 204 No Content status confirming that the upload was terminated." */
export async function terminateUpload(request: TusRequest, deps: HandlerDeps): Promise<TusResponse> {
  await using leased = await admitAndLease(request, request.id, false, deps);
  await removeUnpublished(await findOwnUpload(leased, request.id, deps), deps);
  return { status: 204, headers: {} };
}

/**
 * Every request proves its user, has a slot, and holds the lease of its upload. Only a new upload counts against the rates. Disposing releases the
 * lease and the slot. @throws Refusal; VerifierUnavailable; an error of Redis
 */
async function admitAndLease(
  { context }: TusRequest,
  id: string,
  isNew: boolean,
  { admission, verifier, leases, forms }: HandlerDeps,
): Promise<LeasedRequest> {
  const { request, clientAddress, signal } = context;
  if (!isMediaKey(id)) throw new Refusal('not_found', { message: 'resumable' });
  await using acquired = new AsyncDisposableStack();
  const admitted = acquired.use(admission.admitUpload(clientAddress, 'unverified'));
  const credentials = await credentialsFromHeaders(request.headers, verifier, forms.compatibility);
  const verified = requireCaller(await verifier.verify({ credentials, clientAddress }, signal), credentials, admitted);
  const caller = await admitted.admitCaller(verified, isNew);
  // The key includes the owner, so that a stranger's request never waits for this lock and learns nothing.
  const lease = acquired.use(await leases.acquire(id, ownerHash(caller), signal));
  const owned = acquired.move();
  return { context, admitted, caller, lease, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** @throws Refusal `tus_malformed` for a second length, or one below the offset; `media_too_large`; StateConflict, StoreUnavailable */
async function declareLength(upload: OpenUpload, length: number, { forms }: HandlerDeps): Promise<void> {
  const { length: declared, write } = upload.state;
  if (declared !== undefined || length < write.size) refuseHeader('Upload-Length');
  if (length > forms.maxMediaBytes) throw mediaTooLarge(forms.maxMediaBytes);
  await upload.save({ length });
}

/**
 * "The Server MUST acknowledge successful PATCH requests with the 204 No Content status. It MUST include the `Upload-Offset` header containing the
 * new offset." `Upload-Expires` "MUST be included in every PATCH response if the upload is going to expire." The last byte has no other status, because
 * clients take one for a failure, and upload again. Only a client that prefers the record gets it, of PATCH with status 200 (RFC 7240).
 */
function acknowledge(
  { headers: requestHeaders }: TusRequest,
  status: 201 | 204,
  upload: OpenUpload,
  published: Published | undefined,
  deps: HandlerDeps,
): TusResponse {
  const offset = { 'Upload-Offset': `${upload.state.write.size}` };
  if (!published) return { status, headers: { ...offset, ...expiryOf(upload) } };
  const located = { ...offset, 'Record-Location': publicRecord(published.record, deps.publicSite).url };
  if (!requestHeaders.prefersRecord) return { status, headers: located, published };
  const { headers, body } = representationOf(published, deps);
  const applied = { ...located, ...headers, 'Preference-Applied': 'return=representation' };
  return { status: status === 204 ? 200 : status, headers: applied, body, published };
}

function representationOf({ record }: Published, { publicSite }: HandlerDeps) {
  const body = recordToJson(publicRecord(record, publicSite));
  return { headers: { 'Content-Type': contentTypes.json, 'Content-Length': `${Buffer.byteLength(body)}` }, body };
}

function expiryOf({ state }: OpenUpload) {
  return { 'Upload-Expires': state.expires.toUTCString() };
}

import type { VerificationClient } from '@echodrop/contracts/verification-client';
import { isMediaKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { publicRecord, recordToJson, type StoredRecord } from '@echodrop/record';
import { wasCutOff } from '@echodrop/service/http-server';
import { Server } from '@tus/server';
import { type Request as ExpressRequest, type Response as ExpressResponse, Router } from 'express';
import type { Admission } from '../admit/admission.ts';
import { credentialsFromHeaders, requireCaller } from '../admit/credentials.ts';
import type { GatewayEvents } from '../events.ts';
import { mediaTypeOf } from '../receive/header-parameters.ts';
import { readBody } from '../receive/read-body.ts';
import { contentTypes } from '../response/format.ts';
import { prefersRepresentation } from '../response/preferences.ts';
import { asRefusal, ClientGone, Refusal } from '../response/refusal-error.ts';
import { methodNotAllowed, sendBounded, sendRecord, sendRefusal } from '../response/send-response.ts';
import { createUploadContext, logRefusal, type UploadContext } from '../upload-context.ts';
import type { UploadOutcome } from '../upload-events.ts';
import { checksumAlgorithms } from './incoming-bytes.ts';
import type { ResumableDeps } from './resumable-deps.ts';
import { hasBytesType, tusHeaders } from './tus-headers.ts';
import { ofHead, refusalOf, toRefusal } from './tus-refusals.ts';
import type { TusRequest } from './tus-request.ts';
import { currentRequest, requireRequest, TusLocker, TusStore } from './tus-store.ts';
import type { WriterLeases } from './writer-leases.ts';

export interface TusDeps extends ResumableDeps {
  readonly leases: WriterLeases;
  readonly admission: Admission;
  readonly verifier: Pick<VerificationClient, 'knownProviders' | 'verify'>;
  readonly events: Pick<GatewayEvents, 'resumableRequestEnded' | 'uploadStarted'>;
  /** The site's address, without a final slash. */
  readonly publicSite: string;
  /** The address at which clients reach this service, with its base path and without a final slash; unknown unless set. */
  readonly publicUpload?: string | undefined;
}

const version = '1.0.0';
const methods = ['POST', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS', 'GET'];

/** Below `base`: resumable uploads at `/files/` (tus 1.0.0, docs/integrate/resumable.md). `@tus/server` gets the head of each request. */
export function tusRoutes(base: string, deps: TusDeps): Router {
  const path = `${base}/files`;
  const addressOf = (id: string) => `${deps.publicUpload ? `${deps.publicUpload}/files` : path}/${id}`;
  const server = new Server({
    path,
    datastore: new TusStore(deps),
    locker: new TusLocker(deps.leases),
    maxSize: deps.forms.maxMediaBytes,
    namingFunction: newMediaKey,
    generateUrl: (_request, { id }) => addressOf(id),
    onIncomingRequest: (_request, id) => admit(requireRequest(), id, deps),
    onUploadFinish: async (_request, { id }) => responseOf(requireRequest(), addressOf(id), deps.publicSite),
    onResponseError: (_request, failure) => {
      requireRequest().failure = failure;
      return undefined;
    },
  });
  const handle = (allowed: readonly string[]) => async (request: ExpressRequest, response: ExpressResponse) => {
    const method = request.get('X-HTTP-Method-Override') ?? request.method;
    if (allowed.includes(method)) await handleRequest({ request, response, method, server, deps });
    else methodNotAllowed(allowed.join(', '), 'json')(request, response);
  };
  const router = Router({ caseSensitive: true, strict: true });
  router.all([`${path}/`, path], handle(['POST', 'OPTIONS']));
  router.all(`${path}/:id`, handle(methods.filter((method) => method !== 'POST')));
  return router;
}

interface Handling {
  readonly request: ExpressRequest;
  readonly response: ExpressResponse;
  readonly method: string;
  readonly server: Server;
  readonly deps: TusDeps;
}

async function handleRequest(handling: Handling): Promise<void> {
  const { request, response, method, deps } = handling;
  const context = createUploadContext(request, response, 'tus', 'json');
  const tus: TusRequest = { context, method };
  const end = (...outcome: [UploadOutcome | 'ok', unknown?]) =>
    deps.events.resumableRequestEnded(context, tus, ...outcome);
  response.set({ 'Tus-Resumable': version, 'Cache-Control': 'no-store' });
  deps.events.uploadStarted();
  try {
    await respond(tus, handling);
    end(outcomeOf(tus));
  } catch (error) {
    if (error instanceof ClientGone) return end(wasCutOff(response) ? 'unavailable' : 'client_gone');
    const refusal = asRefusal(toRefusal(error, deps.forms.maxMediaBytes));
    if (refusal.reason === 'tus_version') response.set('Tus-Version', version);
    sendRefusal(request, response, 'json', ofHead(refusal, method));
    logRefusal(context.log, refusal);
    end(refusal.reason, refusal.cause);
  } finally {
    tus.admitted?.[Symbol.dispose]();
  }
}

/** @throws Refusal, an error of the library, ClientGone, or the failure of a dependency */
async function respond(tus: TusRequest, { request, response, method, server, deps }: Handling): Promise<void> {
  requireProtocol(request, method);
  const headers = new Headers(tusHeaders(request.headers));
  // The protocol has no GET. Like HEAD, it publishes an upload whose last request died.
  const isGet = method === 'GET';
  if (isGet) headers.set('Tus-Resumable', version);
  const head = new Request(`http://gateway${request.originalUrl.replace(/\?.*/, '')}`, {
    method: isGet ? 'HEAD' : method,
    headers,
  });
  const result = await currentRequest.run(tus, () => server.handleWeb(head));
  if (tus.failure !== undefined || result.status >= 400)
    throw tus.failure ?? refusalOf({ status: result.status, text: await result.text() }, deps.forms.maxMediaBytes);
  if (isGet) sendRecord(response, 'json', publicRecord(requirePublished(tus), deps.publicSite));
  else await send(result, tus, request, response);
}

function outcomeOf({ context, published }: TusRequest): UploadOutcome | 'ok' {
  if (!published) return 'ok';
  const { id: mediaId, mediaKey, size } = published.record;
  Object.assign(context.log, { mediaId, mediaKey });
  if (published.isRepeat) return 'repeated';
  context.log.bytes = size;
  return 'published';
}

/** What `@tus/server` would refuse with another status than the protocol. */
function requireProtocol(request: ExpressRequest, method: string): void {
  if (method === 'OPTIONS' || method === 'GET') return;
  if (request.get('Tus-Resumable') !== version) throw new Refusal('tus_version');
  const hasBytes = method === 'PATCH' || (method === 'POST' && Number(request.get('Content-Length') ?? 0) > 0);
  if (hasBytes && !hasBytesType(request.headers)) throw tusContentType(request);
}

function tusContentType({ headers }: ExpressRequest): Refusal {
  return new Refusal('tus_content_type', { values: { type: mediaTypeOf(headers['content-type']) || 'missing' } });
}

/** Reads a chunked body of another type, which must be empty. @throws Refusal, ClientGone */
async function requireNoBytes({ request, sendContinue }: UploadContext, forms: TusDeps['forms']): Promise<void> {
  if (request.get('Transfer-Encoding') === undefined || hasBytesType(request.headers)) return;
  const { minBytesPerSecond, maxUploadSeconds: maxSeconds } = forms;
  sendContinue();
  const limits = { maxBytes: 0, tooLarge: () => tusContentType(request), minBytesPerSecond, maxSeconds };
  await readBody(request, limits, () => {}).ended;
}

/** Every request proves its user, and has a slot. Only a new upload counts against the rates. @throws Refusal; VerifierUnavailable */
async function admit(tus: TusRequest, id: string, { admission, verifier, forms }: TusDeps): Promise<void> {
  if (!isMediaKey(id)) throw new Refusal('not_found', { message: 'resumable' });
  const { request, clientAddress, signal } = tus.context;
  const admitted = admission.admitUpload(clientAddress, 'unverified');
  tus.admitted = admitted;
  const credentials = await credentialsFromHeaders(request.headers, verifier, forms.compatibility);
  const caller = requireCaller(await verifier.verify({ credentials, clientAddress }, signal), credentials, admitted);
  tus.caller = await admitted.admitCaller(caller, tus.method === 'POST');
  if (tus.method === 'POST') await requireNoBytes(tus.context, forms);
}

/**
 * The response to the request that sends the last byte. It has the status of the protocol and no body, because clients take another
 * one for a failure and upload again. A client that prefers the record gets it, of PATCH with status 200 (RFC 7240).
 */
function responseOf(tus: TusRequest, address: string, publicSite: string) {
  const record = publicRecord(requirePublished(tus), publicSite);
  const isCreation = tus.method === 'POST';
  const headers = { 'Record-Location': record.url, ...(isCreation && { Location: address }) };
  if (!prefersRepresentation(tus.context.request.get('Prefer')))
    return { status_code: isCreation ? 201 : 204, headers, body: '' };
  const applied = { 'Content-Type': contentTypes.json, 'Preference-Applied': 'return=representation' };
  return { status_code: isCreation ? 201 : 200, headers: { ...headers, ...applied }, body: recordToJson(record) };
}

/** @throws Refusal `upload_incomplete` */
function requirePublished({ published }: TusRequest): StoredRecord {
  if (!published) throw new Refusal('upload_incomplete');
  return published.record;
}

async function send(
  result: Response,
  { method, upload }: TusRequest,
  request: ExpressRequest,
  response: ExpressResponse,
): Promise<void> {
  // Origins are in the hands of the app (app.ts).
  for (const [name, value] of result.headers) if (!name.startsWith('access-control-')) response.setHeader(name, value);
  // The library has it only in responses to POST and PATCH.
  if (method === 'HEAD') response.set('Upload-Expires', upload?.state.expires.toUTCString());
  if (method === 'OPTIONS') response.set('Tus-Checksum-Algorithm', checksumAlgorithms.join(','));
  sendBounded(request, response, result.status, {}, Buffer.from(await result.arrayBuffer()));
}

import type { IncomingMessage } from 'node:http';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { Admission } from './admit/admission.ts';
import type { ApiKeys } from './admit/api-keys.ts';
import { credentialsFromHeaders, requireCaller } from './admit/credentials.ts';
import { EarlyCaller } from './admit/early-caller.ts';
import type { OncePublisher, Published } from './idempotency/idempotency.ts';
import { idempotencyKeyOf } from './idempotency/idempotency-key.ts';
import { type FormSettings, receiveForm, requireFittingBody } from './receive/receive-form.ts';
import { requireParameters } from './receive/require-upload.ts';

/** One upload: its request, how to tell a waiting client to send its body, and when the client has gone. */
export interface Upload {
  readonly request: IncomingMessage;
  /** Where the client is, as far as proxies can be trusted; empty when it is not known. */
  readonly clientAddress: string;
  readonly sendBody: () => void;
  readonly gone: AbortSignal;
}

export interface UploadParts {
  readonly admission: Admission;
  readonly verifier: VerificationClient;
  readonly forms: FormSettings;
  readonly publisher: OncePublisher;
  readonly apiKeys: ApiKeys;
}

// `return await` in both: a promise returned as it is would be awaited only after the form was disposed of.

/** docs/interface.md section 4.1: the credentials are headers. @throws Refusal, ClientGone, or what is broken */
export async function uploadV2(
  { request, clientAddress, sendBody, gone }: Upload,
  parts: UploadParts,
): Promise<Published> {
  using admitted = parts.admission.admit(clientAddress, 'unverified');
  const credentials = await credentialsFromHeaders(request.headers, parts.verifier, parts.forms.compatibility);
  const idempotencyKey = idempotencyKeyOf(request.headers);
  requireFittingBody(request, parts.forms.maxMediaBytes);
  sendBody();
  const caller = parts.verifier
    .verify({ credentials, clientAddress }, gone)
    .then(requireCaller)
    .then(admitted.byCaller);
  await using form = await receiveForm(request, parts.forms, {
    after: caller,
    mediaBegins: admitted.withMedia,
    hashed: idempotencyKey !== undefined,
  });
  const upload = await requireParameters(form, parts.apiKeys, parts.forms.compatibility);
  await admitted.fromApplication(upload.application);
  return await parts.publisher.publish(upload, await caller, idempotencyKey, gone);
}

/** docs/interface.md section 4.2: the credentials are fields, which may follow the file. @throws Refusal, ClientGone, or what is broken */
export async function uploadV1(
  { request, clientAddress, sendBody, gone }: Upload,
  parts: UploadParts,
): Promise<Published> {
  using admitted = parts.admission.admit(clientAddress, 'anonymous');
  const idempotencyKey = idempotencyKeyOf(request.headers);
  requireFittingBody(request, parts.forms.maxMediaBytes);
  sendBody();
  // Anonymous until the caller is verified: where the secrets are wrong the form is read on, as slowly as its sender likes.
  const early = new EarlyCaller((credentials) =>
    parts.verifier.verify({ credentials, clientAddress }, gone).then(requireCaller).then(admitted.byCaller),
  );
  await using form = await receiveForm(request, parts.forms, {
    fieldRead: early.fieldRead,
    mediaAfter: early.verified,
    mediaMemory: (crowdOut) => (early.isAsked ? undefined : admitted.openMemory(crowdOut)),
    mediaBegins: admitted.withMedia,
    hashed: idempotencyKey !== undefined,
  });
  const caller = early.caller;
  const upload = await requireParameters(form, parts.apiKeys, parts.forms.compatibility);
  await caller;
  await admitted.fromApplication(upload.application);
  return await parts.publisher.publish(upload, await caller, idempotencyKey, gone);
}

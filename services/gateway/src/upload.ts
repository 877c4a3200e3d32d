import type { IncomingMessage } from 'node:http';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { StoredRecord } from '@echodrop/record';
import type { ApiKeys } from './api-keys.ts';
import { credentialsFromHeaders, requireCaller } from './credentials.ts';
import { EarlyVerdict } from './early-verdict.ts';
import type { Publisher } from './publish.ts';
import { type FormReceiver, requireFittingBody } from './receive-form.ts';
import { requireParameters } from './require-upload.ts';

/** One upload: its request, how to tell a waiting client to send its body, and when the client has gone. */
export interface Upload {
  readonly request: IncomingMessage;
  readonly sendBody: () => void;
  readonly gone: AbortSignal;
}

export interface UploadParts {
  readonly verifier: VerificationClient;
  readonly forms: FormReceiver;
  readonly publisher: Publisher;
  readonly apiKeys: ApiKeys;
  readonly maxMediaBytes: number;
  readonly compatibility: 'strict' | 'historic';
}

// `return await` in both: a promise returned as it is would be awaited only after the form was disposed of.

/** INTERFACE section 4.1: the credentials are headers. @throws Refusal, ClientGone, or what is broken */
export async function uploadV2({ request, sendBody, gone }: Upload, parts: UploadParts): Promise<StoredRecord> {
  const credentials = await credentialsFromHeaders(request.headers, parts.verifier, parts.compatibility);
  requireFittingBody(request, parts.maxMediaBytes);
  sendBody();
  const caller = parts.verifier.verify(credentials, gone).then(requireCaller);
  await using form = await parts.forms.receive(request, { after: caller });
  const upload = await requireParameters(form, parts.apiKeys, parts.compatibility);
  return await parts.publisher.publish(upload, await caller, gone);
}

/** INTERFACE section 4.2: the credentials are fields, which may follow the file. @throws Refusal, ClientGone, or what is broken */
export async function uploadV1({ request, sendBody, gone }: Upload, parts: UploadParts): Promise<StoredRecord> {
  requireFittingBody(request, parts.maxMediaBytes);
  sendBody();
  const early = new EarlyVerdict(parts.verifier, gone);
  await using form = await parts.forms.receive(request, { fieldRead: early.fieldRead });
  const verdict = early.verdict;
  const upload = await requireParameters(form, parts.apiKeys, parts.compatibility);
  return await parts.publisher.publish(upload, requireCaller(await verdict), gone);
}

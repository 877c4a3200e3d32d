import type { Caller, Credentials } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { Admission } from './admit/admission.ts';
import type { ApiKeys } from './admit/api-keys.ts';
import {
  credentialsFromFields,
  credentialsFromHeaders,
  hasBearerToken,
  requireCaller,
  secretsMissing,
  twoProofs,
} from './admit/credentials.ts';
import { idempotencyKeyOf, type OncePublisher, type Published } from './idempotency/idempotency.ts';
import { refusalByType } from './publish/unsupported-media.ts';
import { requireParameters } from './receive/complete-upload.ts';
import { secretNames } from './receive/part-headers.ts';
import { type FormSettings, receiveForm, requireFittingBody } from './receive/receive-form.ts';
import { mediaTooLarge } from './response/refusal-error.ts';
import type { UploadContext } from './upload-context.ts';

export interface UploadDeps {
  readonly admission: Admission;
  readonly verifier: VerificationClient;
  readonly forms: FormSettings;
  readonly publisher: OncePublisher;
  readonly apiKeys: ApiKeys;
}

/**
 * Receives and publishes one upload (docs/reference/interface.md sections 4.1, 4.2). The checks are in the order in which an upload passes them.
 * Version 2 has the credentials in its headers. Version 1 has them in fields, which may follow the media: until its caller is verified
 * it is anonymous, and with wrong credentials its form is still read to the end. Instead, it may have a bearer token in its headers.
 * @throws Refusal, ClientGone, or the failure of a dependency
 */
export async function acceptUpload(context: UploadContext, deps: UploadDeps): Promise<Published> {
  const { request, version, clientAddress, signal, log } = context;
  const { admission, verifier, forms, publisher, apiKeys } = deps;

  using admitted = admission.admitUpload(clientAddress, version === 1 ? 'anonymous' : 'unverified');

  const headerCredentials =
    version === 2 || hasBearerToken(request.headers)
      ? await credentialsFromHeaders(request.headers, verifier, forms.compatibility)
      : undefined;
  const idempotencyKey = idempotencyKeyOf(request.headers);
  requireFittingBody(request, forms.maxMediaBytes);
  context.sendContinue();

  const verdict = Promise.withResolvers<Caller>();
  // Each awaiter handles the rejection.
  verdict.promise.catch(() => {});
  const verification = { isRequested: false };
  const verify = (credentials: Credentials) => {
    if (verification.isRequested) return;
    verification.isRequested = true;
    const verified = verifier.verify({ credentials, clientAddress }, signal);
    verified
      .then((received) => admitted.admitCaller(requireCaller(received, credentials, admitted)))
      .then(verdict.resolve, verdict.reject);
  };
  // In version 1 not before the file: a proxy may have added the token to a request with secrets.
  const verifyHeader = () => headerCredentials && verify(headerCredentials);
  if (version === 2) verifyHeader();
  // Once, also if the form ends while its media is refused.
  let applicationAdmitted: Promise<void> | undefined;
  const admitApplication = (name: string) => (applicationAdmitted ??= admitted.admitApplication(name));

  await using form = await receiveForm(request, forms, {
    onField(fields) {
      if (version === 2) return;
      if (headerCredentials && secretNames.some((name) => fields.has(name))) throw twoProofs('the fields of version 1');
      const credentials = credentialsFromFields(fields);
      if (credentials) verify(credentials);
    },
    verdict: verdict.promise,
    stopOnRefusal: version === 2,
    openMemory(crowdOut) {
      verifyHeader();
      return verification.isRequested ? undefined : admitted.openMemory(crowdOut);
    },
    async admitMedia(type, received) {
      if (received.media) log.mediaKey = received.media.key;
      const refusal = refusalByType(type, { typesOff: forms.typesOff, idempotencyKey });
      if (!refusal) await admitted.admitMedia(type);
      // Otherwise a fault in the rest of the form comes first.
      else if (received.fields.has('key') && received.fields.has('message')) {
        const { application } = requireParameters(received, apiKeys, forms.compatibility);
        await admitApplication(application);
        throw refusal;
      }
      return refusal;
    },
  });

  verifyHeader();
  if (!verification.isRequested) throw secretsMissing(form);
  // As in version 2, credentials in headers come before faults of the form.
  if (headerCredentials) await verdict.promise;
  const { message, alt, application, media } = requireParameters(form, apiKeys, forms.compatibility);
  const caller = await verdict.promise;
  await admitApplication(application);
  const stored = await media.awaitStored();
  if (!stored) throw mediaTooLarge(forms.maxMediaBytes);

  // `return await`: else the form would be disposed of, and its media discarded, before the upload is published.
  return await publisher.publish({ message, alt, application, caller, media, stored }, idempotencyKey, context);
}

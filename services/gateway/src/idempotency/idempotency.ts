import { createHash } from 'node:crypto';
import type { Caller } from '@echodrop/contracts/verification';
import type { StoredRecord } from '@echodrop/record';
import { Refusal } from '../answer/refusals.ts';
import { OutcomeUnknown, type Publisher } from '../publish/publish.ts';
import { type CompleteUpload, requireSize } from '../receive/require-upload.ts';
import type { Claim, IdempotencyClaims, KeyScope } from './idempotency-claims.ts';

/** What an upload is answered with, and whether an earlier upload has published it. */
export interface Published {
  readonly record: StoredRecord;
  readonly repeated: boolean;
}

/**
 * Publishes each upload, those with the same idempotency key once. A key is claimed together with the media id that the record
 * will have: whether it was published is asked of the store, never of Redis (docs/decisions/011).
 */
export class OncePublisher {
  readonly #publisher: Publisher;
  readonly #claims: IdempotencyClaims;

  constructor(publisher: Publisher, claims: IdempotencyClaims) {
    this.#publisher = publisher;
    this.#claims = claims;
  }

  /**
   * The record of `upload`, or the one that an earlier upload with its key and payload has.
   * @throws Refusal `media_too_large`, `idempotency_key_reused`, `idempotency_key_in_use`, `media_unsupported`; whatever Redis or
   * Publisher fail with
   */
  async publish(
    upload: CompleteUpload,
    caller: Caller,
    key: string | undefined,
    gone: AbortSignal,
  ): Promise<Published> {
    if (key === undefined) return { record: await this.#publisher.publish(upload, caller, gone), repeated: false };
    await requireSize(upload.media);
    const scope = { provider: caller.provider, subject: caller.subject, application: upload.application, key };
    const found = await this.#recordOrClaim(scope, fingerprintOf(upload));
    if ('mediaKey' in found) {
      await this.#publisher.list(found);
      return { record: found, repeated: true };
    }
    try {
      const record = await this.#publisher.publish(upload, caller, gone, found.mediaId);
      return { record, repeated: record.mediaKey !== upload.media.key };
    } catch (error) {
      // Once a record may have been written under this id, no repeat may have another one.
      const end = error instanceof OutcomeUnknown || found.takenOver ? 'leave' : 'release';
      // Where Redis does not hear of it, the claim is taken over later.
      await this.#claims[end](scope, found).catch(() => {});
      throw error;
    }
  }

  // What a repeat is answered with, or the claim under which to publish.
  async #recordOrClaim(scope: KeyScope, fingerprint: string): Promise<StoredRecord | Claim> {
    const { claim, isNew } = await this.#claims.claim(scope, fingerprint);
    if (isNew) return claim;
    if (claim.fingerprint !== fingerprint) throw new Refusal('idempotency_key_reused');
    const record = await this.#publisher.find(claim.mediaId, scope);
    const taken = record ?? (await this.#claims.takeOver(scope, claim));
    if (taken === undefined) {
      throw new Refusal('idempotency_key_in_use', { retryAfterSeconds: await this.#claims.retryAfterSeconds(scope) });
    }
    return taken;
  }
}

function fingerprintOf({ message, media }: CompleteUpload): string {
  return createHash('sha256')
    .update(JSON.stringify([message, media.contentHash]))
    .digest('hex');
}

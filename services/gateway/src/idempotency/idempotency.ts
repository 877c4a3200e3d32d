import type { IncomingHttpHeaders } from 'node:http';
import type { StoredRecord } from '@echodrop/record';
import { z } from 'zod';
import { OutcomeUnknown, type PublishContext, type Publisher } from '../publish/publish.ts';
import type { CompleteUpload } from '../receive/complete-upload.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { Claim, IdempotencyClaims, KeyScope } from './idempotency-claims.ts';

/**
 * The value of `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header, section 2.1): a quoted string, or, from older clients, text
 * without quotes and spaces.
 */
export const idempotencyKeyShape = z.string().regex(/^("([ !#-\x5b\x5d-~]|\\["\\]){1,255}"|[!#-\x5b\x5d-~]{1,255})$/);

/** The key in `Idempotency-Key`, if any. @throws Refusal `idempotency_key_malformed` */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const { success, data } = idempotencyKeyShape.optional().safeParse(headers['idempotency-key']?.toString());
  if (!success) throw new Refusal('idempotency_key_malformed');
  return data?.startsWith('"') ? data.slice(1, -1).replace(/\\(.)/g, '$1') : data;
}

export interface Published {
  readonly record: StoredRecord;
  /** Whether an earlier upload published the record. */
  readonly isRepeat: boolean;
}

/**
 * Publishes uploads with the same idempotency key once. A key is claimed together with a media id; whether that was published, only the
 * store says, not Redis (docs/decisions/admission-and-idempotency.md).
 */
export class OncePublisher {
  readonly #publisher: Publisher;
  readonly #claims: IdempotencyClaims;

  constructor(publisher: Publisher, claims: IdempotencyClaims) {
    this.#publisher = publisher;
    this.#claims = claims;
  }

  /**
   * The record of `upload`, or that of an earlier upload with the same key and payload.
   * @throws Refusal `idempotency_key_reused`, `idempotency_key_in_use`; errors of Redis and of Publisher
   */
  async publish(upload: CompleteUpload, key: string | undefined, context: PublishContext): Promise<Published> {
    if (key === undefined)
      return { record: await this.#publisher.publish(upload, context, upload.mediaId), isRepeat: false };
    const { provider, subject } = upload.caller;
    const scope = { provider, subject, application: upload.application, key };
    const found = await this.#recordOrClaim(scope, payloadOf(upload), upload.mediaId);
    if ('mediaKey' in found) {
      await this.#publisher.confirm(found, { text: upload.message, ...upload.stored });
      return { record: found, isRepeat: true };
    }
    try {
      const record = await this.#publisher.publish(upload, context, found.mediaId);
      return { record, isRepeat: record.mediaKey !== upload.media.key };
    } catch (error) {
      // If a record may have been written under this id, or was removed since, repeats must use it too.
      const isRemoved = error instanceof Refusal && error.reason === 'removed';
      const mayExist = error instanceof OutcomeUnknown || isRemoved || found.takenOver;
      // If Redis fails, a repeat takes the claim over later.
      await this.#claims.release(scope, found, mayExist).catch(() => {});
      throw error;
    }
  }

  // Returns the record of an earlier upload, or the claim under which to publish.
  async #recordOrClaim(scope: KeyScope, payload: string, mediaId?: string): Promise<StoredRecord | Claim> {
    const { claim, isNew } = await this.#claims.claim(scope, payload, mediaId);
    if (isNew) return claim;
    if (!this.#claims.isFor(scope, claim, payload)) throw new Refusal('idempotency_key_reused');
    const record = await this.#publisher.find(claim.mediaId, scope);
    const taken = record ?? (await this.#claims.takeOver(scope, claim));
    if (taken === undefined) {
      throw new Refusal('idempotency_key_in_use', { retryAfterSeconds: await this.#claims.retryAfterSeconds(scope) });
    }
    return taken;
  }
}

// A CRC-32, because a resumable upload may come to several processes, and none can continue a SHA-256.
function payloadOf({ message, stored: { size, crc32 } }: CompleteUpload): string {
  return JSON.stringify([message, size, crc32]);
}

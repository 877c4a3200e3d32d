import type { IncomingHttpHeaders } from 'node:http';
import { type PutIfAbsentOutcome, StoreUnavailable } from '../object-store.ts';
import { contentOf, type ObjectRequests } from './object-requests.ts';
import type { StoreResponse } from './signed-requests.ts';
import { hasOtherTag, isOtherTag, partCountOf, readTag, responseError } from './store-response.ts';
import { isConditionRefusal, md5Of, type WriteRules } from './write-rules.ts';

/** An object is missing, although the store has confirmed its write. */
export class NotStored extends StoreUnavailable {
  constructor() {
    super('object missing after a confirmed write');
  }
}

/** An object that was written, and may have been lost since. */
export interface UnconfirmedObject {
  /** Undefined if the response was lost, and the store's tags do not show the bytes. */
  readonly etag: string | undefined;
  readonly size: number;
  /** The number of parts of a multipart upload, otherwise 1. */
  readonly parts: number;
}

/**
 * Writes that must not replace an object, and proofs that an object exists. If the store cannot do both by conditional writes
 * (`WriteRules.confirmsByWrite`), objects are looked up instead, which needs permission to read them. @throws StoreUnavailable
 */
export class ConditionalWrites {
  readonly #objects: ObjectRequests;
  readonly #rules: WriteRules;

  constructor(objects: ObjectRequests, rules: WriteRules) {
    this.#objects = objects;
    this.#rules = rules;
  }

  /** Implements `ObjectStore.putIfAbsent`. */
  async putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    return this.#onKnownStore(() => this.#putIfAbsent(key, bytes));
  }

  /** Implements `ObjectStore.commit`: of two conditional writes at once, one must find the other. Otherwise the written object is looked up. */
  async commit(key: string, bytes: Buffer, beforeWrite?: () => Promise<void>): Promise<PutIfAbsentOutcome> {
    await this.#rules.ensureProbed();
    await beforeWrite?.();
    // A probe takes seconds on a slow store: what the caller has checked would be old.
    if (this.#rules.mustProbe) throw new StoreUnavailable('object store must be probed before the next write');
    return this.#onKnownStore(() => this.#commit(key, bytes));
  }

  /**
   * Proves that an object exists, with permission to write alone: a conditional write of nothing must conflict. MinIO reports the
   * tag of the existing object, which must be that of `written`; AWS does not.
   * @returns the object's tag
   * @throws NotStored if the object is missing. The caller then removes the empty object that may exist.
   */
  async requireStored(key: string, written: UnconfirmedObject): Promise<string> {
    return this.#onKnownStore(() => this.#requireStored(key, written));
  }

  /** Probes a store that is not known, and doubts one that was away, loses what it has confirmed, or refuses what it accepted. */
  async #onKnownStore<T>(write: () => Promise<T>): Promise<T> {
    await this.#rules.ensureProbed();
    try {
      return await write();
    } catch (error) {
      if (error instanceof NotStored) this.#rules.doubt();
      else this.#rules.suspect();
      throw error;
    }
  }

  async #putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    if (!this.#rules.capabilities.hasConditionalWrites) return this.#putIfMissing(key, bytes);
    const response = await this.#put(key, bytes, { 'if-none-match': '*' });
    // This process never probes.
    if (isConditionRefusal(response.status) && !this.#rules.hasAdopted) {
      const outcome = await this.#putIfMissing(key, bytes);
      if (outcome === 'created') this.#rules.giveUpConditions();
      return outcome;
    }
    if (response.status === 412) return this.#isOther(response.headers, bytes) ? 'differs' : 'exists';
    if (response.status !== 200) throw responseError(response.status, response.body);
    return 'created';
  }

  async #commit(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    if (!this.#rules.confirmsByWrite) return this.#lookUp(key, bytes, await this.#putIfAbsent(key, bytes));
    const put = () => this.#putIfAbsent(key, bytes);
    const writes = await Promise.allSettled([put(), put()]);
    const outcomes = writes.map((write) => (write.status === 'fulfilled' ? write.value : write.reason));
    if (outcomes.includes('exists')) return outcomes.includes('created') ? 'created' : 'exists';
    if (outcomes.includes('differs')) return 'differs';
    const failure = outcomes.find((outcome) => outcome !== 'created');
    if (failure) throw failure;
    // The store has lost the first write, or does not keep two writes at once apart.
    this.#rules.doubt();
    return this.#lookUp(key, bytes, 'created');
  }

  /** @returns `outcome`, that of the write of `bytes`, unless the store has other bytes */
  async #lookUp(key: string, bytes: Buffer, outcome: PutIfAbsentOutcome): Promise<PutIfAbsentOutcome> {
    const found = await this.#objects.head(key);
    if (!found) throw new NotStored();
    return found.size !== bytes.length || this.#isOther(found, bytes) ? 'differs' : outcome;
  }

  async #requireStored(key: string, written: UnconfirmedObject): Promise<string> {
    if (!this.#rules.confirmsByWrite) return this.#findStored(key, written);
    const { status, headers, body, isRepeated } = await this.#put(key, Buffer.alloc(0), { 'if-none-match': '*' });
    if (status !== 200 && status !== 412) throw responseError(status, body);
    if (status === 200) throw new NotStored();
    // The empty object that a lost try of this request may have written has a tag without a number of parts.
    const shown = partCountOf(headers.etag) === written.parts ? readTag(headers) : undefined;
    const etag = written.etag ?? shown;
    if (etag === undefined) return this.#findStored(key, written);
    // A repeated request may conflict with its own first try, so only the tag proves the object.
    if (isRepeated ? readTag(headers) !== etag : hasOtherTag(headers, etag)) throw new NotStored();
    return etag;
  }

  async #findStored(key: string, { etag, size }: UnconfirmedObject): Promise<string> {
    const found = await this.#objects.head(key);
    const hasKnownTag = etag !== undefined && this.#rules.capabilities.hasFinalTags;
    if (found?.size !== size || (hasKnownTag && isOtherTag(found.etag, etag))) throw new NotStored();
    return found.etag;
  }

  /** Two processes may find the object missing, and both write it: their callers keep apart what must not be written twice. */
  async #putIfMissing(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    const found = await this.#objects.head(key);
    if (found) return this.#isOther(found, bytes) ? 'differs' : 'exists';
    const { status, body } = await this.#put(key, bytes, {});
    if (status !== 200) throw responseError(status, body);
    return 'created';
  }

  #isOther(headers: Pick<IncomingHttpHeaders, 'etag'>, bytes: Buffer): boolean {
    return this.#rules.capabilities.hasMd5Tags && hasOtherTag(headers, md5Of([bytes]).toString('hex'));
  }

  #put(key: string, bytes: Buffer, headers: Record<string, string>): Promise<StoreResponse> {
    return this.#objects.write(key, contentOf(bytes), headers);
  }
}

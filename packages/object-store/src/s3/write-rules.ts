import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { StoreUnavailable } from '../object-store.ts';
import { type StoreCapabilities, usualCapabilities } from '../store-capabilities.ts';
import type { StoreResponse } from './signed-requests.ts';
import {
  ChecksumUnconfirmed,
  checksumHeader,
  hasOtherTag,
  isWrongChecksum,
  PartsLost,
  readChecksum,
  responseError,
} from './store-response.ts';

/** The bytes of a write, and their CRC-32 in Base64. */
export interface WrittenBytes {
  readonly blocks: readonly Buffer[];
  readonly crc32: string;
}

const firstCalmMs = 2500;
const lastCalmMs = 60_000;

/** How requests prove what they write. All requests of a store share them. */
export class WriteRules {
  #capabilities = usualCapabilities;
  #isProbed = false;
  #hasAdopted = false;
  #calmMs = 0;
  #calmUntil = 0;
  /** Whether requests carry CRC-32 checksums until the store refuses them, or a probe has found what it does. */
  readonly isStrict: boolean;
  readonly #probe: (() => Promise<unknown>) | undefined;

  /**
   * @param isStrict whether responses must confirm checksums until a probe finds otherwise
   * @param probe probes the store, and lets these rules adopt what it finds
   */
  constructor(isStrict: boolean, probe?: () => Promise<unknown>) {
    this.isStrict = isStrict;
    this.#probe = probe;
  }

  get capabilities(): StoreCapabilities {
    return this.#capabilities;
  }

  /** Whether requests carry CRC-32 checksums. */
  get hasCrc32(): boolean {
    return this.#capabilities.checksums === 'crc32';
  }

  /** Whether an object is confirmed by a conditional write, which needs no permission to read. */
  get confirmsByWrite(): boolean {
    return confirmsByWrite(this.#capabilities);
  }

  /** Takes over what a probe has found. */
  adopt(found: StoreCapabilities): void {
    const isSame = this.#hasAdopted && isDeepStrictEqual(found, this.#capabilities);
    this.#calmMs = isSame ? Math.min(Math.max(firstCalmMs, 2 * this.#calmMs), lastCalmMs) : 0;
    this.#calmUntil = performance.now() + this.#calmMs;
    this.#hasAdopted = true;
    this.#capabilities = found;
    this.#isProbed = true;
  }

  /** Whether a probe has ever had a result. */
  get hasAdopted(): boolean {
    return this.#hasAdopted;
  }

  /**
   * Probes the store, unless that is done, or never is. Before each write: on a store that ignores conditions, the write that proves an object
   * would replace it by nothing. @throws StoreUnavailable
   */
  async ensureProbed(): Promise<void> {
    if (this.mustProbe) await this.#probe?.();
  }

  /** Whether the store is not known, and this process probes it. */
  get mustProbe(): boolean {
    return !this.#isProbed && this.#probe !== undefined;
  }

  /** The store has done otherwise than its probe found, or was away: it may be another store by now. */
  doubt(): void {
    this.#isProbed = false;
  }

  /**
   * The store has refused a write, has not confirmed one, or did not respond. Clients can cause refusals, as with a quota: if the last probe has found
   * nothing new, it is doubted again after 2.5 s, 5, and so on up to a minute.
   */
  suspect(): void {
    if (performance.now() >= this.#calmUntil) this.#isProbed = false;
  }

  /** The store refuses conditional writes. */
  giveUpConditions(): void {
    this.#capabilities = { ...this.#capabilities, hasConditionalWrites: false };
  }

  /**
   * Sends a request whose headers these rules decide. If the store refuses it twice, and not without CRC-32 checksums, later requests have none
   * either. A strict process probes the store again before its next write: bytes that change on the way are refused, too.
   */
  async sendAccepted<T extends Pick<StoreResponse, 'status' | 'body'>>(send: () => Promise<T>): Promise<T> {
    await this.ensureProbed();
    const response = await send().catch((error: unknown) => {
      this.suspect();
      throw error;
    });
    if (isRefused(response) && !isWrongChecksum(response.body)) this.suspect();
    if (this.isStrict || !this.hasCrc32 || !isRefused(response)) return response;
    const again = await send();
    if (!isRefused(again)) return again;
    const before = this.#capabilities;
    this.#capabilities = { ...before, checksums: 'md5' };
    const without = await send();
    if (isRefused(without)) this.#capabilities = before;
    // Parts that were sent with checksums cannot be joined without: this upload fails for its checksums, and the next one has none.
    return isRefusal(without.status) ? again : without;
  }

  /** Headers that let the store verify the bytes: first those that need no signature. */
  checksumHeaders({ blocks, crc32 }: WrittenBytes): [Record<string, string>, Record<string, string>] {
    return this.hasCrc32
      ? [{}, { [checksumHeader]: crc32 }]
      : [{ 'content-md5': md5Of(blocks).toString('base64') }, {}];
  }

  /** @throws StoreUnavailable if a response shows other bytes than those sent, or does not confirm them although it should */
  requireConfirmed(headers: IncomingHttpHeaders, { blocks, crc32 }: WrittenBytes): void {
    if (this.#capabilities.checksums === 'tag' && hasOtherTag(headers, md5Of(blocks).toString('hex')))
      throw new StoreUnavailable('object store has other bytes than it was sent');
    const confirmed = readChecksum(headers);
    if (!this.hasCrc32 || confirmed === crc32 || (confirmed === undefined && !this.isStrict)) return;
    if (confirmed === undefined) this.suspect();
    throw new ChecksumUnconfirmed();
  }
}

/** Whether an object can be confirmed by a conditional write. Else it must be looked up. */
export function confirmsByWrite({ hasConditionalWrites, hasRepeatedWrites, hasFinalTags }: StoreCapabilities): boolean {
  return hasConditionalWrites && hasRepeatedWrites && hasFinalTags;
}

/** Whether a store does not know a header or an element of the request. A completion may also be refused because its parts are lost. */
function isRefused({ status, body }: Pick<StoreResponse, 'status' | 'body'>): boolean {
  return isRefusal(status) && !(responseError(status, body) instanceof PartsLost);
}

/** Whether a store responds so to a header that it does not know. */
export function isRefusal(status: number): boolean {
  return status === 400 || status === 501;
}

/** Whether a store responds so to a conditional write if it does not know the condition. */
export function isConditionRefusal(status: number): boolean {
  return isRefusal(status) || status === 405 || status === 422;
}

export function md5Of(blocks: readonly Buffer[]): Buffer {
  const md5 = createHash('md5');
  for (const block of blocks) md5.update(block);
  return md5.digest();
}

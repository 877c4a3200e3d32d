import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { StoreUnavailable } from '../object-store.ts';
import { fullCapabilities, type StoreCapabilities } from '../store-capabilities.ts';
import type { StoreResponse } from './signed-requests.ts';
import { checksumHeader, hasOtherTag, readChecksum } from './store-response.ts';

/** The bytes of a write, and their CRC-32 in Base64. */
export interface WrittenBytes {
  readonly blocks: readonly Buffer[];
  readonly crc32: string;
}

/** How requests prove what they write. All requests of a store share them. */
export class WriteRules {
  #capabilities = fullCapabilities;
  /** Whether each response must confirm the checksum. */
  #requiresCrc32: boolean;
  #isProbed = false;
  /** Whether requests carry CRC-32 checksums until the store refuses them, or a probe has found what it does. */
  readonly isStrict: boolean;

  /** @param isStrict whether responses must confirm checksums until a probe finds otherwise */
  constructor(isStrict: boolean) {
    this.isStrict = isStrict;
    this.#requiresCrc32 = isStrict;
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
    this.#capabilities = found;
    this.#isProbed = true;
    this.#requiresCrc32 = this.isStrict && found.checksums === 'crc32';
  }

  /**
   * Whether a strict process has to probe the store before its next conditional write: on a store that ignores conditions, the write that proves an
   * object would replace it by nothing.
   */
  get needsProbe(): boolean {
    return this.isStrict && !this.#isProbed;
  }

  /** The store has accepted a conditional write of an object that it had: it has lost the object, or conditional writes. */
  doubt(): void {
    this.#isProbed = false;
  }

  /** The store refuses conditional writes. */
  giveUpConditions(): void {
    this.#capabilities = { ...this.#capabilities, hasConditionalWrites: false };
  }

  /**
   * Sends a request whose headers these rules decide. If the store refuses it twice, and not without CRC-32 checksums, later requests have none
   * either. Not in a strict process, whose probe decides: bytes that change on the way are refused, too.
   */
  async sendAccepted<T extends Pick<StoreResponse, 'status'>>(send: () => Promise<T>): Promise<T> {
    const response = await send();
    if (this.isStrict || !this.hasCrc32 || !isRefusal(response.status)) return response;
    const again = await send();
    if (!isRefusal(again.status)) return again;
    const before = this.#capabilities;
    this.#capabilities = { ...before, checksums: 'md5' };
    const without = await send();
    if (isRefusal(without.status)) this.#capabilities = before;
    return without;
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
    if (!this.hasCrc32 || confirmed === crc32 || (confirmed === undefined && !this.#requiresCrc32)) return;
    throw new StoreUnavailable('object store did not confirm the checksum');
  }
}

/** Whether an object can be confirmed by a conditional write. Else it must be looked up. */
export function confirmsByWrite({ hasConditionalWrites, hasRepeatedWrites, hasFinalTags }: StoreCapabilities): boolean {
  return hasConditionalWrites && hasRepeatedWrites && hasFinalTags;
}

/** Whether a store responds so to a header that it does not know. */
export function isRefusal(status: number): boolean {
  return status === 400 || status === 501;
}

export function md5Of(blocks: readonly Buffer[]): Buffer {
  const md5 = createHash('md5');
  for (const block of blocks) md5.update(block);
  return md5.digest();
}

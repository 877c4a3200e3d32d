import type { RequestRefused } from '../client-errors.ts';

// Proxies often refuse a request above 100 MB.
const largestBytes = 64 * 2 ** 20;
// nginx refuses larger requests by default.
const smallestBytes = 2 ** 20;

/** Larger media go in pieces at once. */
export const resumableBytes = 32 * 2 ** 20;

/**
 * The sizes of the pieces of one resumable upload. A piece that a proxy refused for its size, or lost as a whole, is followed by smaller ones, down
 * to 1 MiB.
 */
export class PieceSizes {
  #bytes = largestBytes;
  #hasPassed = false;
  /** The size of the last piece. */
  #lastBytes = 0;
  /** The offset of a piece that did not pass, or has no response yet. */
  #failedStart = -1;

  /** The size of the next piece: from the offset `start` of media of `total` bytes. */
  next(start: number, total: number): number {
    const restBytes = total - start;
    if (start === this.#failedStart) this.#bytes = smaller(Math.min(this.#bytes, restBytes));
    this.#failedStart = start;
    this.#lastBytes = Math.min(this.#bytes, restBytes);
    return this.#lastBytes;
  }

  /** Notes that the last piece arrived. */
  pass(): void {
    this.#hasPassed = true;
    this.#failedStart = -1;
  }

  /** Notes that the last piece was refused. @returns whether a smaller piece may pass at once, or a proxy blocks all pieces */
  refuse({ status, reason }: Pick<RequestRefused, 'status' | 'reason'>): 'smaller' | 'blocked' | 'refused' {
    const isFromProxy = reason === 'unknown';
    // A proxy that lost the piece, or waited too long for its end: the next attempt sends a smaller one.
    if (!(isFromProxy && (status >= 500 || [408, 499].includes(status)))) this.#failedStart = -1;
    if (isFromProxy && [400, 403, 413].includes(status) && this.#lastBytes > smallestBytes) {
      // Only 413 says that the size is the reason, so another status is worth one more piece.
      this.#bytes = status === 413 ? smaller(this.#lastBytes) : smallestBytes;
      return 'smaller';
    }
    // Some firewalls block PATCH. A firewall that has passed a piece refuses this one for another reason.
    const isBlocked = isFromProxy && !this.#hasPassed && [400, 403, 405, 501].includes(status);
    return isBlocked ? 'blocked' : 'refused';
  }
}

function smaller(bytes: number): number {
  return Math.max(smallestBytes, Math.ceil(bytes / 4));
}

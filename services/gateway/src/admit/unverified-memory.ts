import { Refusal } from '../response/refusal-error.ts';

/** The memory of one upload. Disposing returns it. */
export interface MemoryShare extends Disposable {
  readonly network: string;
  readonly crowdOut: (reason: Refusal) => void;
  readonly bytes: number;
  /**
   * @throws Refusal `media_too_large` beyond what one upload may hold; if no other network holds more, `too_many_requests` beyond an equal
   * share of the network, `overloaded` within it
   */
  readonly take: (bytes: number) => void;
  readonly giveBack: (bytes: number) => void;
  /** From now on, this upload is not crowded out. */
  readonly markVerified: () => void;
}

/**
 * Memory for media that precedes its credentials (version 1), shared by all uploads of this process. When it is full, an upload of the
 * network that holds the most is crowded out, so that no network keeps it from others.
 */
export class UnverifiedMemory {
  readonly #maxBytes: number;
  /** Shares of uploads whose callers are not verified. */
  readonly #shares = new Set<MemoryShare>();
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes held by all uploads. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Opens the share of one upload. `crowdOut` must close it before it returns. */
  open(network: string, crowdOut: (reason: Refusal) => void): MemoryShare {
    const change = (bytes: number) => {
      share.bytes += bytes;
      this.#heldBytes += bytes;
    };
    const markVerified = () => this.#shares.delete(share);
    const share = {
      network,
      crowdOut,
      bytes: 0,
      markVerified,
      take: (bytes: number) => {
        this.#makeSpace(share, bytes);
        change(bytes);
      },
      giveBack: (bytes: number) => change(-bytes),
      [Symbol.dispose]() {
        markVerified();
        change(-share.bytes);
      },
    };
    this.#shares.add(share);
    return share;
  }

  #makeSpace(share: MemoryShare, bytes: number): void {
    if (share.bytes + bytes > this.#maxBytes) throw new Refusal('media_too_large', { message: 'secretsFirst' });
    while (this.#heldBytes + bytes > this.#maxBytes) {
      const networks = Map.groupBy(this.#shares, ({ network }) => network);
      const heldBy = (network = '') => (networks.get(network) ?? []).reduce((sum, each) => sum + each.bytes, 0);
      const heaviest = largest(networks.keys(), heldBy);
      const aboveShare = new Refusal('too_many_requests', { message: 'addressUploads' });
      const wanted = heldBy(share.network) + bytes;
      // Verified uploads may hold the rest.
      if (heldBy(heaviest) <= wanted)
        throw wanted > this.#maxBytes / networks.size ? aboveShare : new Refusal('overloaded');
      largest(networks.get(heaviest ?? '') ?? [], (each) => each.bytes)?.crowdOut(aboveShare);
    }
  }
}

function largest<T>(all: Iterable<T>, bytesOf: (each: T) => number): T | undefined {
  return [...all].sort((one, other) => bytesOf(other) - bytesOf(one))[0];
}

import type { ObjectStore } from '@echodrop/object-store/object-store';

// A store that does not compare may be upgraded, or have lied for a moment.
const againMs = 5 * 60_000;

/** Finds out whether the store compares what it is sent with its checksum. */
export class ChecksumCheck {
  readonly #store: Pick<ObjectStore, 'supportsChecksums'>;
  readonly #known: (supportsChecksums: boolean) => void;
  #compares: boolean | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  /** `known` is called when the answer is there, and when it has changed. */
  constructor(store: Pick<ObjectStore, 'supportsChecksums'>, known: (supportsChecksums: boolean) => void) {
    this.#store = store;
    this.#known = known;
  }

  /** Resolves once the answer is known. A store that does not compare is asked again after five minutes. @throws StoreUnavailable */
  async run(): Promise<void> {
    const isDue = performance.now() - this.#askedAt >= againMs;
    if (this.#compares || (this.#compares === false && !isDue)) return;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const compares = await this.#store.supportsChecksums();
    this.#askedAt = performance.now();
    if (compares !== this.#compares) this.#known(compares);
    this.#compares = compares;
  }
}

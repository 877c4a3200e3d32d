import type { ObjectStore } from '@echodrop/object-store/object-store';

// The store may be upgraded, or have answered wrongly once.
const recheckMs = 5 * 60_000;

/** Checks whether the store verifies checksums of writes. */
export class ChecksumCheck {
  readonly #store: Pick<ObjectStore, 'supportsChecksums'>;
  readonly #onResult: (supportsChecksums: boolean) => void;
  #compares: boolean | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  /** `onResult` is called with the first result and with each change. */
  constructor(store: Pick<ObjectStore, 'supportsChecksums'>, onResult: (supportsChecksums: boolean) => void) {
    this.#store = store;
    this.#onResult = onResult;
  }

  /** Checks unless the result is known; a negative one is checked again after five minutes. @throws StoreUnavailable */
  async run(): Promise<void> {
    const isDue = performance.now() - this.#checkedAt >= recheckMs;
    if (this.#compares || (this.#compares === false && !isDue)) return;
    this.#running ??= this.#check().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #check(): Promise<void> {
    const compares = await this.#store.supportsChecksums();
    this.#checkedAt = performance.now();
    if (compares !== this.#compares) this.#onResult(compares);
    this.#compares = compares;
  }
}

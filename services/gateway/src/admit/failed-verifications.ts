const windowMs = 60_000;

/** Counts requests of each network that ended without a verified caller, in windows of a minute from the first of them. */
export class FailedVerifications {
  readonly #limit: number;
  #counts = new Map<string, number>();
  #windowEnds = 0;

  /** `limit`: the most failures of one network in a minute. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  count(network: string): void {
    if (this.#isOver()) {
      this.#counts = new Map();
      this.#windowEnds = performance.now() + windowMs;
    }
    this.#counts.set(network, (this.#counts.get(network) ?? 0) + 1);
  }

  /** Seconds until the window ends if the network has reached the limit, else 0. */
  retryAfterSeconds(network: string): number {
    if (this.#isOver() || (this.#counts.get(network) ?? 0) < this.#limit) return 0;
    return Math.ceil((this.#windowEnds - performance.now()) / 1000);
  }

  #isOver(): boolean {
    return performance.now() >= this.#windowEnds;
  }
}

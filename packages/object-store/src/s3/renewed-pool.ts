import { Pool } from 'undici';

/**
 * A pool of connections that is replaced once it is `maxAgeMs` old, because a node of the store may be about to stop, and if a request times
 * out: the node at the other end may be lost, and its other connections then hang as well. Requests on the replaced pool go on.
 */
export class RenewedPool implements AsyncDisposable {
  readonly #open: () => Pool;
  readonly #replaced = new Set<Pool>();
  readonly #maxAgeMs: number;
  #pool: Pool;
  #openedAt = performance.now();

  constructor(maxAgeMs: number, ...options: ConstructorParameters<typeof Pool>) {
    this.#maxAgeMs = maxAgeMs;
    this.#open = () => new Pool(...options);
    this.#pool = this.#open();
  }

  /** Runs a request on the pool. @throws the error of `request`; one named `TimeoutError` replaces the pool */
  async run<T>(request: (pool: Pool) => Promise<T>): Promise<T> {
    if (performance.now() - this.#openedAt > this.#maxAgeMs) this.#replace(this.#pool);
    const pool = this.#pool;
    try {
      return await request(pool);
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') this.#replace(pool);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#pool, ...this.#replaced].map((pool) => pool.destroy()));
  }

  #replace(pool: Pool): void {
    if (this.#pool !== pool) return;
    this.#pool = this.#open();
    this.#openedAt = performance.now();
    this.#replaced.add(pool);
    const forget = () => this.#replaced.delete(pool);
    pool.close().then(forget, forget);
  }
}

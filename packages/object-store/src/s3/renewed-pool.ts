import { Pool } from 'undici';

/**
 * A pool of connections that is replaced if a request times out: the node at the other end may be lost, and its other connections then hang
 * as well. Requests on the replaced pool go on.
 */
export class RenewedPool implements AsyncDisposable {
  readonly #open: () => Pool;
  readonly #replaced = new Set<Pool>();
  #pool: Pool;

  constructor(...options: ConstructorParameters<typeof Pool>) {
    this.#open = () => new Pool(...options);
    this.#pool = this.#open();
  }

  /** Runs a request on the pool. @throws the error of `request`; one named `TimeoutError` replaces the pool */
  async run<T>(request: (pool: Pool) => Promise<T>): Promise<T> {
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
    this.#replaced.add(pool);
    const forget = () => this.#replaced.delete(pool);
    pool.close().then(forget, forget);
  }
}

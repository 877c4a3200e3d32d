import type { Caller } from '@echodrop/contracts/verification';
import { Refusal } from '../answer/refusals.ts';

/** The verdict on an upload's caller. It can be awaited before the credentials have arrived. */
export class PendingVerdict {
  readonly #settled = Promise.withResolvers<Caller>();
  #isRequested = false;

  constructor() {
    // Each awaiter of `caller` handles the rejection.
    this.#settled.promise.catch(() => {});
  }

  /** Whether the credentials have arrived. */
  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Rejects as `verify` does; pending forever if no credentials arrive. */
  get caller(): Promise<Caller> {
    return this.#settled.promise;
  }

  /** Starts the verification; later calls do nothing. */
  request(verify: () => Promise<Caller>): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    verify().then(this.#settled.resolve, this.#settled.reject);
  }

  /** @throws Refusal `credentials_missing` */
  requireRequested(): void {
    if (!this.#isRequested) throw new Refusal('credentials_missing');
  }
}

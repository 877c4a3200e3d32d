import { setTimeout as sleep } from 'node:timers/promises';
import { type Blockable, blockKey, listBlockKeys } from '@echodrop/archive/blocks';
import type { Caller } from '@echodrop/contracts/verification';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Refusal } from '../response/refusal-error.ts';

const refreshMs = 10_000;
const firstRefreshMs = 1000;

/** The blocks in the store, refreshed every ten seconds, so that no upload has to read them. */
export class BlockList implements AsyncDisposable {
  readonly #store: ObjectStore;
  readonly #stop = new AbortController();
  readonly #refreshing: Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #blocked: ReadonlySet<string> | undefined;

  /** `onFailure` is called for each failed refresh; the last list stays in force. */
  constructor(store: ObjectStore, onFailure: (error: unknown) => void) {
    this.#store = store;
    this.#onFailure = onFailure;
    this.#refreshing = this.#refresh();
  }

  /** @throws Refusal `caller_blocked`; `unavailable` before the first refresh */
  refuseBlockedUser({ provider, subject }: Caller): void {
    if (this.#isBlocked({ kind: 'user', provider, subject })) throw new Refusal('caller_blocked');
  }

  /** @throws Refusal `application_blocked`; `unavailable` before the first refresh */
  refuseBlockedApplication(name: string): void {
    if (this.#isBlocked({ kind: 'application', name })) throw new Refusal('application_blocked');
  }

  /** @throws Error before the first refresh */
  async ready(): Promise<void> {
    if (!this.#blocked) throw new Error('the block list is not loaded yet');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#refreshing;
  }

  #isBlocked(blockable: Blockable): boolean {
    if (!this.#blocked) throw new Refusal('unavailable');
    return this.#blocked.size > 0 && this.#blocked.has(blockKey(blockable));
  }

  async #refresh(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await listBlockKeys(this.#store).then((keys) => {
        this.#blocked = new Set(keys);
      }, this.#onFailure);
      await sleep(this.#blocked ? refreshMs : firstRefreshMs, undefined, { signal }).catch(() => {});
    }
  }
}

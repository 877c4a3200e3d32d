import { setTimeout as sleep } from 'node:timers/promises';
import { type Blockable, blockKey, listBlockKeys } from '@echodrop/archive/blocks';
import type { Caller } from '@echodrop/contracts/verification';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Uploader } from '../publish/commit-record.ts';
import { Refusal } from '../response/refusal-error.ts';

// A refresh starts after half of the time that `admin block-user` promises. The store may take the other half.
const refreshMs = 5000;
const repeatMs = 1000;

interface BlockListEvents {
  /** A refresh failed. The last list stays in force. */
  blockListFailed(error: unknown): void;
  blockListRefreshed(): void;
}

/** The blocks in the store. A refresh starts five seconds after the start of the last one, so that no upload has to read them. */
export class BlockList implements AsyncDisposable {
  readonly #store: ObjectStore;
  readonly #stop = new AbortController();
  readonly #refreshing: Promise<void>;
  readonly #events: BlockListEvents;
  #failure: unknown;
  #blocked: ReadonlySet<string> | undefined;

  constructor(store: ObjectStore, events: BlockListEvents) {
    this.#store = store;
    this.#events = events;
    this.#refreshing = this.#refresh();
  }

  /** @throws Refusal `application_blocked`, `caller_blocked`; `unavailable` before the first refresh */
  refuseBlocked(uploader: Uploader): void {
    this.refuseBlockedApplication(uploader.application);
    this.refuseBlockedUser(uploader);
  }

  /** @throws Refusal `caller_blocked`; `unavailable` before the first refresh */
  refuseBlockedUser({ provider, subject }: Pick<Caller, 'provider' | 'subject'>): void {
    if (this.#isBlocked({ kind: 'user', provider, subject })) throw new Refusal('caller_blocked');
  }

  /** @throws Refusal `application_blocked`; `unavailable` before the first refresh */
  refuseBlockedApplication(name: string): void {
    if (this.#isBlocked({ kind: 'application', name })) throw new Refusal('application_blocked');
  }

  /** @throws Error before the first refresh */
  async ready(): Promise<void> {
    if (!this.#blocked) throw new Error('the block list is not loaded yet', { cause: this.#failure });
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
      const next = performance.now() + refreshMs;
      let pauseMs = repeatMs;
      try {
        this.#blocked = new Set(await Array.fromAsync(listBlockKeys(this.#store)));
        this.#events.blockListRefreshed();
        pauseMs = Math.max(0, next - performance.now());
      } catch (error) {
        this.#failure = error;
        this.#events.blockListFailed(error);
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

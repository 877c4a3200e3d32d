import { setTimeout as sleep } from 'node:timers/promises';
import { type Blockable, blockKey, listBlockKeys } from '@echodrop/archive/blocks';
import type { Caller } from '@echodrop/contracts/verification';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Refusal } from '../response/refusal-error.ts';

// Half of the time that `admin block-user` promises: the store may take the other half.
const refreshMs = 5000;
const repeatMs = 1000;
// A list may be older if this process was suspended, or if the store does not respond.
const maxAgeMs = 10_000;
// How long an upload waits for a newer list. Then the last one counts.
const catchUpMs = 5000;

/** The user and the application of an upload. */
type Uploader = Pick<Caller, 'provider' | 'subject'> & { readonly application: string };

interface BlockListEvents {
  /** The last list stays in force. */
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
  #listedAt = clocks();
  /** The end of the refresh that runs, or of the next one, and whether it had a list. */
  #refreshed = Promise.withResolvers<boolean>();

  constructor(store: ObjectStore, events: BlockListEvents) {
    this.#store = store;
    this.#events = events;
    this.#refreshing = this.#refresh();
  }

  /**
   * Before a record is written. Waits for a new list if the last one is too old, and if the store has one within five seconds.
   * @throws Refusal `application_blocked`, `caller_blocked`; `unavailable` before the first refresh
   */
  async refuseBlocked(uploader: Uploader): Promise<void> {
    if (this.#isOld()) await this.#catchUp();
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

  #isOld(): boolean {
    const now = clocks();
    return now.some((ms, n) => ms - (this.#listedAt[n] ?? 0) > maxAgeMs);
  }

  async #catchUp(): Promise<void> {
    const late = sleep(catchUpMs, false, { ref: false });
    // The refresh that ends first may have begun before this process was suspended.
    while (this.#isOld() && (await Promise.race([this.#refreshed.promise, late])));
  }

  async #refresh(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const next = performance.now() + refreshMs;
      const begunAt = clocks();
      const keys = await listBlockKeys(this.#store).catch((error: unknown) => this.#fail(error));
      if (keys) this.#replace(keys, begunAt);
      this.#refreshed.resolve(keys !== undefined);
      this.#refreshed = Promise.withResolvers();
      const pauseMs = keys ? Math.max(0, next - performance.now()) : repeatMs;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  #replace(keys: readonly string[], begunAt: readonly number[]): void {
    this.#blocked = new Set(keys);
    this.#listedAt = begunAt;
    this.#events.blockListRefreshed();
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#events.blockListFailed(error);
  }
}

/** Milliseconds of two clocks: one that no one sets, and one that goes on while the machine is suspended. */
function clocks(): readonly number[] {
  return [performance.now(), Date.now()];
}

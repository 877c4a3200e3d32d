import { setTimeout as sleep } from 'node:timers/promises';
import { type Blockable, blockKey, listBlockKeys } from '@echodrop/archive/blocks';
import type { Caller } from '@echodrop/contracts/verification';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Refusal } from '../answer/refusals.ts';

const pauseMs = 10_000;
const retryAfterSeconds = 5;

/** Who may not upload, as operators have said in the store; looked up there every ten seconds, so that no upload has to. */
export class BlockList implements AsyncDisposable {
  readonly #store: ObjectStore;
  readonly #stop = new AbortController();
  readonly #looking: Promise<void>;
  readonly #failed: (error: unknown) => void;
  #blocked: ReadonlySet<string> | undefined;

  /** `failed` hears of each look that gave nothing: what was known goes on to hold. */
  constructor(store: ObjectStore, failed: (error: unknown) => void) {
    this.#store = store;
    this.#failed = failed;
    this.#looking = this.#look();
  }

  /** @throws Refusal `caller_blocked`; `unavailable` while nobody has looked yet */
  requireUser({ provider, subject }: Caller): void {
    if (this.#isBlocked({ kind: 'user', provider, subject })) throw new Refusal('caller_blocked');
  }

  /** @throws Refusal `application_blocked`; `unavailable` while nobody has looked yet */
  requireApplication(name: string): void {
    if (this.#isBlocked({ kind: 'application', name })) throw new Refusal('application_blocked');
  }

  /** Resolves when it is known who is blocked. @throws Error */
  async ready(): Promise<void> {
    if (!this.#blocked) throw new Error('who is blocked is not known yet');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looking;
  }

  #isBlocked(who: Blockable): boolean {
    if (!this.#blocked) throw new Refusal('unavailable', { retryAfterSeconds });
    return this.#blocked.size > 0 && this.#blocked.has(blockKey(who));
  }

  async #look(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await listBlockKeys(this.#store).then((keys) => {
        this.#blocked = new Set(keys);
      }, this.#failed);
      const pause = this.#blocked ? pauseMs : pauseMs / 10;
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }
}

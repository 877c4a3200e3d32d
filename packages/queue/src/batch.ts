import { setTimeout as sleep } from 'node:timers/promises';

/** Collects items for `waitMs` and sends them together, one batch after the other. */
export class Batch<T> implements AsyncDisposable {
  readonly #waitMs: number;
  readonly #send: (items: readonly T[]) => Promise<void>;
  readonly #closing = new AbortController();
  #items: T[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(waitMs: number, send: (items: readonly T[]) => Promise<void>) {
    this.#waitMs = waitMs;
    this.#send = send;
  }

  /** Settles as the sending of its batch does. */
  add(item: T): Promise<void> {
    if (this.#items.length === 0) this.#last = this.#sendSoon(this.#last);
    this.#items.push(item);
    return this.#last;
  }

  /** Sends at once, and waits for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#last.catch(() => {});
  }

  async #sendSoon(previous: Promise<void>): Promise<void> {
    await Promise.allSettled([sleep(this.#waitMs, undefined, { signal: this.#closing.signal }), previous]);
    const items = this.#items;
    this.#items = [];
    await this.#send(items);
  }
}

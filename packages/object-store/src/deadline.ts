/** A signal that aborts after `ms` milliseconds, unless it is disposed of before. */
export class Deadline implements Disposable {
  readonly #late = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#late.abort(new Error(`no answer within ${ms} ms`)), ms);
  }

  get signal(): AbortSignal {
    return this.#late.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

import type { Dispatcher } from 'undici';

export type Headers = Record<string, string | string[] | undefined>;

// S3's answers to writes are an error's XML at most.
const mostBytes = 64 * 1024;

/** One exchange whose answer is small and is waited for as a whole, within `ms`: cheaper than undici's `request`, which makes a stream of every body. */
export class WholeAnswer implements Dispatcher.DispatchHandler {
  status = 0;
  headers: Headers = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  readonly #ms: number;
  readonly #end = Promise.withResolvers<this>();
  #controller: Dispatcher.DispatchController | undefined;
  #late: Error | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  /** Sends `request` once. @returns this answer @throws what undici fails with, or an Error at the deadline, the wait for a socket included */
  async of(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): Promise<this> {
    const timer = setTimeout(() => this.#stop(new Error(`no answer within ${this.#ms} ms`)), this.#ms);
    try {
      dispatcher.dispatch(request, this);
      return await this.#end.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#late) controller.abort(this.#late);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > mostBytes) this.#stop(new Error('the store answered too much'));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end.resolve(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end.reject(error);
  }

  #stop(error: Error): void {
    this.#late = error;
    this.#controller?.abort(error);
    this.#end.reject(error);
  }
}

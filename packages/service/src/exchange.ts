import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Sends a request once and reads the whole answer, within `deadlineMs` for all of it, the wait for a socket included; how much is read is the
 * dispatcher's `maxResponseSize`. It costs less than undici's `request`, which makes a stream of every answer.
 * @throws the signal's reason, undici's error, or a DOMException `TimeoutError` when the time is over
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    dispatcher.dispatch(request, new Exchange(resolve, reject, deadlineMs, signal));
  });
}

// One timer and one listener, in place of signals that are made and joined for each request.
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(
    resolve: (answer: Answer) => void,
    reject: (reason: unknown) => void,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    this.#timer = setTimeout(
      () => this.#fail(new DOMException(`no whole answer within ${deadlineMs} ms`, 'TimeoutError')),
      deadlineMs,
    );
    signal?.addEventListener('abort', this);
  }

  handleEvent(): void {
    this.#fail(this.#signal?.reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure) controller.abort(this.#failure);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    const [only = Buffer.alloc(0)] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : only;
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#reject(error);
  }

  // Also while there is no connection yet; then the request is not sent when there is one.
  #fail(reason: unknown): void {
    this.#end();
    this.#failure = reason instanceof Error ? reason : new Error('aborted', { cause: reason });
    this.#reject(reason);
    this.#controller?.abort(this.#failure);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this);
  }
}

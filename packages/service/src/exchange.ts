import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Sends a request once and reads the whole response within `deadlineMs`, including the wait for a socket. The dispatcher's
 * `maxResponseSize` limits its size. Costs less than undici's `request`, which creates a stream per response.
 * @throws the signal's reason, undici's error, or a DOMException `TimeoutError`
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    dispatcher.dispatch(request, new Exchange(resolve, reject, deadlineMs, signal));
  });
}

// One timer and one listener are cheaper than combined signals.
class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(
    resolve: (response: HttpResponse) => void,
    reject: (reason: unknown) => void,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    this.#timer = setTimeout(
      () => this.#fail(new DOMException(`no complete response within ${deadlineMs} ms`, 'TimeoutError')),
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

  // Before a connection exists, this prevents the request.
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

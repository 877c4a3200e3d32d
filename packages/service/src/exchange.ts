import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface ExchangeOptions {
  /** The longest time of the whole exchange, including the wait for a socket. */
  readonly deadlineMs: number;
  /** The most bytes of the response's body. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request once and reads the whole response. Costs less than undici's `request`, which creates a stream per response.
 * @throws the signal's reason, undici's error (beyond `maxBytes`, ResponseExceededMaxSizeError), or a DOMException `TimeoutError`
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { deadlineMs, maxBytes, signal }: ExchangeOptions,
): Promise<HttpResponse> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  const chunks: Buffer[] = [];
  let controller: Dispatcher.DispatchController | undefined;
  let failure: Error | undefined;
  let status = 0;
  let size = 0;
  let headers: IncomingHttpHeaders = {};
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  };
  // Before a connection exists, this prevents the request.
  const fail = (reason: unknown) => {
    end();
    failure = reason instanceof Error ? reason : new Error('aborted', { cause: reason });
    reject(reason);
    controller?.abort(failure);
  };
  // One timer and one listener are cheaper than combined signals.
  const stop = () => fail(signal?.reason);
  const late = () => fail(new DOMException(`no complete response within ${Math.round(deadlineMs)} ms`, 'TimeoutError'));
  const timer = setTimeout(late, deadlineMs);
  signal?.addEventListener('abort', stop);
  dispatcher.dispatch(request, {
    onRequestStart(started) {
      controller = started;
      if (failure) controller.abort(failure);
    },
    onResponseStart(_, receivedStatus, receivedHeaders) {
      status = receivedStatus;
      headers = receivedHeaders;
    },
    onResponseData(_, chunk) {
      size += chunk.length;
      if (size > maxBytes) fail(new errors.ResponseExceededMaxSizeError(`response above ${maxBytes} bytes`));
      else chunks.push(chunk);
    },
    onResponseEnd() {
      end();
      const [only = Buffer.alloc(0)] = chunks;
      resolve({ status, headers, body: chunks.length > 1 ? Buffer.concat(chunks) : only });
    },
    onResponseError(_, error) {
      end();
      reject(error);
    },
  });
  return promise;
}

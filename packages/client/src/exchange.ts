import { notFromService, obstacleOf, ServiceUnreachable, UnreadableResponse } from './client-errors.ts';
import type { MediaRequest, Platform } from './platform/platform.ts';
import { maxBodyBytes, readBody } from './read-body.ts';

/** A response, and its body. */
export interface Exchanged {
  readonly response: Response;
  readonly body: string;
}

/** Where the requests of an upload go, and what all of them have. */
export interface Uploading extends Pick<MediaRequest, 'signal' | 'onProgress' | 'fetch' | 'stallMs'> {
  /** The address of the upload service, without a final slash. */
  readonly service: string;
  readonly send: Platform<unknown>['send'];
  /** The headers that prove the user, new for each request. */
  readonly proof: () => Promise<Record<string, string>>;
}

/** Each request with media ends after this time, which is also the service's default limit (MAX_UPLOAD_SECONDS). */
const maxMediaRequestMs = 6 * 3600 * 1000;

/** Sends media and reads the response, as `exchange` does. */
export function exchangeMedia(
  { service, send, proof, signal, fetch, stallMs }: Uploading,
  path: string,
  { headers, ...request }: Pick<MediaRequest, 'method' | 'headers' | 'fields' | 'media' | 'onProgress'>,
): Promise<Exchanged> {
  return exchange(signal, maxBodyBytes, async () =>
    send(service + path, {
      ...request,
      headers: { ...(await proof()), ...headers },
      signal: AbortSignal.any([signal, AbortSignal.timeout(maxMediaRequestMs)]),
      fetch,
      stallMs,
    }),
  );
}

/** Sends a request and reads the response. The body of a success may have up to `maxBytes`, that of a failure 1 MiB. @throws ServiceUnreachable, UnreadableResponse, the signal's reason, or the source's error */
export async function exchange(
  signal: AbortSignal,
  maxBytes: number,
  send: () => Promise<Response>,
): Promise<Exchanged> {
  try {
    const response = await send();
    if (response.ok && /^text\/html\b/i.test(response.headers.get('content-type') ?? '')) {
      response.body?.cancel().catch(() => {});
      throw new UnreadableResponse('The response is a web page.');
    }
    return { response, body: await readBody(response, signal, response.ok ? maxBytes : maxBodyBytes) };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UnreadableResponse) throw notFromService(cause.message);
    const message = obstacleOf(cause) ?? 'No response from the upload service.';
    throw sourceError(cause) ?? new ServiceUnreachable(message, { cause });
  }
}

// A file that is gone or changed stays so: another attempt would only take time.
function sourceError(error: unknown): Error | undefined {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each.name === 'NotReadableError' || each.name === 'SourceError') return each;
  return undefined;
}

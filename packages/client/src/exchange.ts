import { notFromService, obstacleOf, ServiceUnreachable, UnreadableResponse } from './client-errors.ts';
import { maxBodyBytes, readBody } from './read-body.ts';

/** Sends a request and reads the response. A success may have `maxBytes`, a failure 1 MiB. @throws ServiceUnreachable, UnreadableResponse, the signal's reason, or the source's error */
export async function exchange(signal: AbortSignal, maxBytes: number, send: () => Promise<Response>) {
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

import { ServiceUnreachable, UnreadableResponse } from './client-errors.ts';
import { readBody } from './read-body.ts';

/** Sends a request and reads the response. @throws ServiceUnreachable, UnreadableResponse, the signal's reason, or the source's error */
export async function exchange(signal: AbortSignal, maxBytes: number, send: () => Promise<Response>) {
  try {
    const response = await send();
    return { response, body: await readBody(response, maxBytes) };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UnreadableResponse) throw cause;
    throw sourceError(cause) ?? new ServiceUnreachable('No response from the upload service.', { cause });
  }
}

// A file that is gone or changed stays so: another attempt would only take time.
function sourceError(error: unknown): Error | undefined {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each.name === 'NotReadableError' || each.name === 'SourceError') return each;
  return undefined;
}

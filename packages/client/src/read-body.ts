import { UnreadableResponse } from './client-errors.ts';

/** No single record, refusal or document of a provider is larger. */
export const maxBodyBytes = 2 ** 20;

/** Reads a response, up to `maxBytes` after decompression. @throws UnreadableResponse for a larger one, or the signal's reason */
export async function readBody(response: Response, signal: AbortSignal, maxBytes = maxBodyBytes): Promise<string> {
  if (!response.body) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  // The signal of the request is not enough: Node 20 can collect what connects it to the response.
  const cancel = () => reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  try {
    let text = '';
    let bytes = 0;
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      signal.throwIfAborted();
      bytes += value?.byteLength ?? 0;
      if (bytes > maxBytes) {
        cancel();
        throw tooLarge(maxBytes);
      }
      text += decoder.decode(value, { stream: true });
    }
    signal.throwIfAborted();
    return text + decoder.decode();
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

export function tooLarge(maxBytes: number): UnreadableResponse {
  return new UnreadableResponse(`The response is larger than ${maxBytes / 2 ** 20} MiB.`);
}

import { UnreadableResponse } from './client-errors.ts';

/** No single record, refusal or document of a provider is larger. */
export const maxBodyBytes = 2 ** 20;

/** Reads a response, up to `maxBytes` after decompression. @throws UnreadableResponse for a larger one, or the signal's reason */
export async function readBody(response: Response, signal: AbortSignal, maxBytes = maxBodyBytes): Promise<string> {
  const reader = response.body?.getReader();
  // The signal of the request is not enough: Node 20 can collect what connects it to the response.
  const cancel = () => reader?.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  try {
    return await readText(reader, signal, maxBytes);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function readText(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  signal: AbortSignal,
  maxBytes: number,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
    signal.throwIfAborted();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      reader.cancel().catch(() => {});
      throw tooLarge(maxBytes);
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

export function tooLarge(maxBytes: number): UnreadableResponse {
  return new UnreadableResponse(`The response is larger than ${maxBytes / 2 ** 20} MiB.`);
}

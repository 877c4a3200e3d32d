import { UnreadableResponse } from './client-errors.ts';

/** No single record, refusal or document of a provider is larger. */
export const maxBodyBytes = 2 ** 20;

/** Reads a response, up to `maxBytes` after decompression. @throws UnreadableResponse for a larger one */
export async function readBody(response: Response, maxBytes = maxBodyBytes): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
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

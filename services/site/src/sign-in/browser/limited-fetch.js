// @ts-check
import { ProviderFault } from './fault.js';

const maxBytes = 1024 * 1024;

/**
 * `fetch` with an error if the body of the response is larger than 1 MiB: a hostile provider could fill the memory.
 *
 * @param {string | URL} address
 * @param {RequestInit} options
 */
export async function limitedFetch(address, options) {
  const response = await fetch(address, options);
  if (!response.body) return response;
  let bytes = 0;
  const limit = new TransformStream({
    transform(/** @type {Uint8Array} */ chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxBytes) controller.error(new ProviderFault('sent a response above 1 MiB'));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(limit), response);
}

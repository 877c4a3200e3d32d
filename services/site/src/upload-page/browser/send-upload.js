// @ts-check

// The gateway's default limit.
const timeoutMs = 6 * 3600 * 1000;
const stallMs = 120_000;

export class Cancelled extends Error {}

export class NoResponse extends Error {}

/**
 * Sends a form and resolves to the response, whatever its status. Uses XMLHttpRequest because `fetch` reports no upload progress.
 *
 * @param {string} address
 * @param {{ headers: Record<string, string>, body: FormData }} request
 * @param {{ signal: AbortSignal, onProgress: (sent: number, total: number) => void }} options bytes
 * @returns {Promise<import('/scripts/service-response.js').ServiceResponse>}
 * @throws {Cancelled | NoResponse}
 */
export function sendUpload(address, { headers, body }, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw new Cancelled();
    const request = new XMLHttpRequest();
    let stall = 0;
    const restartStall = () => {
      clearTimeout(stall);
      stall = setTimeout(() => request.abort(), stallMs);
    };
    restartStall();
    request.open('POST', address);
    request.timeout = timeoutMs;
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      restartStall();
      onProgress(loaded, total);
    });
    request.addEventListener('loadend', () => clearTimeout(stall));
    request.addEventListener('load', () => {
      const { status, responseText: text } = request;
      resolve({ status, text, retryAfter: request.getResponseHeader('Retry-After') });
    });
    request.addEventListener('abort', () => reject(signal.aborted ? new Cancelled() : new NoResponse()));
    for (const end of ['error', 'timeout']) request.addEventListener(end, () => reject(new NoResponse()));
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}

// @ts-check

// The gateway's default limit.
const timeoutMs = 6 * 3600 * 1000;
const stallMs = 120_000;

export class Cancelled extends Error {}

/** Its message is empty, or says what may be the cause. */
export class NoResponse extends Error {}

/**
 * @typedef {{ method: string, headers: Record<string, string>, body?: FormData | Blob | undefined }} Request
 * @typedef {{ signal: AbortSignal, onProgress: (sent: number, total: number) => void }} Options bytes
 * @typedef {import('/scripts/service-response.js').ServiceResponse & { offset: string | null, location: string | null }} Response
 *   with the headers of a resumable upload
 */

/**
 * Sends a request and resolves to the response, whatever its status. Uses XMLHttpRequest because `fetch` reports no upload progress.
 *
 * @param {string} address
 * @param {Request} request
 * @param {Options} options
 * @returns {Promise<Response>}
 * @throws {Cancelled | NoResponse}
 */
export function sendRequest(address, { method, headers, body }, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw new Cancelled();
    const request = new XMLHttpRequest();
    let stall = 0;
    const restartStall = () => {
      clearTimeout(stall);
      stall = setTimeout(() => request.abort(), stallMs);
    };
    restartStall();
    request.open(method, address);
    request.timeout = timeoutMs;
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      restartStall();
      onProgress(loaded, total);
    });
    const abort = () => request.abort();
    request.addEventListener('loadend', () => {
      clearTimeout(stall);
      signal.removeEventListener('abort', abort);
    });
    request.addEventListener('load', () => {
      const { status, responseText: text } = request;
      const header = (/** @type {string} */ name) => request.getResponseHeader(name);
      const [offset, location] = [header('Upload-Offset'), header('Location')];
      resolve({ status, text, type: header('Content-Type'), retryAfter: header('Retry-After'), offset, location });
    });
    request.addEventListener('abort', () => reject(signal.aborted ? new Cancelled() : new NoResponse()));
    for (const end of ['error', 'timeout']) request.addEventListener(end, () => reject(new NoResponse()));
    signal.addEventListener('abort', abort);
    request.send(body);
  });
}

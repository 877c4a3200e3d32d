// @ts-check

// As long as the gateway lets an upload take, unless it is told otherwise.
const longestMs = 6 * 3600 * 1000;

/** The upload was cancelled. */
export class Cancelled extends Error {}

/** No answer came. */
export class Unanswered extends Error {}

/**
 * Sends a form and gives the request with its whole answer, whatever the status is. An XMLHttpRequest, since `fetch` does not tell how much has
 * been sent.
 *
 * @param {string} address
 * @param {{ headers: Record<string, string>, body: FormData }} request
 * @param {{ signal: AbortSignal, onProgress: (sent: number, total: number) => void }} options bytes
 * @returns {Promise<XMLHttpRequest>}
 * @throws {Cancelled | Unanswered}
 */
export function sendUpload(address, { headers, body }, { signal, onProgress }) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw new Cancelled();
    const request = new XMLHttpRequest();
    request.open('POST', address);
    request.timeout = longestMs;
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded, total));
    request.addEventListener('load', () => resolve(request));
    request.addEventListener('abort', () => reject(new Cancelled()));
    for (const end of ['error', 'timeout']) request.addEventListener(end, () => reject(new Unanswered()));
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}

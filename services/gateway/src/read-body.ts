import type { Readable } from 'node:stream';
import { ClientGone, Refusal } from './refusals.ts';

const paceWindowMs = 30_000;
const maxHeldBytes = 256 * 1024;

interface BodyLimits {
  /** The longest body that is read. */
  readonly maxBytes: number;
  readonly minBytesPerSecond: number;
  readonly maxSeconds: number;
}

interface Reading {
  /** Until it resolves, no more than 256 KiB are read. */
  readonly after: Promise<unknown> | undefined;
  /** Ends the reading at once. */
  readonly signal: AbortSignal;
}

/**
 * The bytes of a request's body, as fast as they are taken. It leaves the request open, whatever happens: an answer is still
 * to be sent on its connection.
 * @throws Refusal `media_too_large`, `too_slow`; ClientGone; the signal's reason
 */
export async function* readBody(
  request: Readable,
  { maxBytes, minBytesPerSecond, maxSeconds }: BodyLimits,
  { after, signal }: Reading,
): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false });
  const pace = new SenderPace(minBytesPerSecond, Date.now() + maxSeconds * 1000);
  let read = 0;
  try {
    for (;;) {
      const { value: chunk, done } = await pace.waitFor(chunks.next(), signal);
      if (done) return;
      read += chunk.length;
      if (read > maxBytes) throw new Refusal('media_too_large');
      if (read > maxHeldBytes) await after;
      pace.received(chunk.length);
      yield chunk;
    }
  } finally {
    // Whoever drops the rest of the body needs the request back; a wait for the next chunk may go on until there is one.
    chunks.return?.().catch(() => {});
  }
}

// Only the time in which we wait for the sender counts; while we do not read, nobody is slow.
class SenderPace {
  readonly #minBytesPerSecond: number;
  readonly #endMs: number;
  #waitedMs = 0;
  #bytes = 0;

  constructor(minBytesPerSecond: number, endMs: number) {
    this.#minBytesPerSecond = minBytesPerSecond;
    this.#endMs = endMs;
  }

  async waitFor<T>(chunk: Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const started = Date.now();
    const limitMs = Math.min(paceWindowMs, this.#endMs - started);
    const ended = Promise.withResolvers<never>();
    const timer = setTimeout(() => ended.reject(new Refusal('too_slow')), limitMs);
    const stop = () => ended.reject(signal.reason);
    signal.addEventListener('abort', stop);
    try {
      return await Promise.race([chunk.catch(gone), ended.promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      this.#waitedMs += Date.now() - started;
    }
  }

  received(bytes: number): void {
    this.#bytes += bytes;
    if (this.#waitedMs < paceWindowMs) return;
    if ((this.#bytes * 1000) / this.#waitedMs < this.#minBytesPerSecond) throw new Refusal('too_slow');
    this.#waitedMs = 0;
    this.#bytes = 0;
  }
}

function gone(error: unknown): never {
  throw new ClientGone('the client went away', { cause: error });
}

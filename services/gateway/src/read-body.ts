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

interface BodyConsumer {
  /** Takes a chunk. What it throws ends the reading. */
  readonly take: (chunk: Buffer) => void;
  /** Until it resolves, no more than 256 KiB are taken; what it rejects with ends the reading. */
  readonly verdict?: Promise<unknown> | undefined;
}

/**
 * Reads the body of a request and pushes it to a consumer, unless that has paused it. The request stays open, whatever happens: an answer
 * is still to be sent on its connection.
 */
export class BodyReader {
  /** Resolves at the end of the body. Rejects with Refusal `media_too_large` or `too_slow`, ClientGone, or what `stop` was given. */
  readonly ended: Promise<void>;
  readonly #request: Readable;
  readonly #pace: SenderPace;
  readonly #settle: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #stopListening: () => void;
  #isPaused = false;
  #isAwaitingVerdict = false;
  #isOver = false;

  constructor(
    request: Readable,
    { maxBytes, minBytesPerSecond, maxSeconds }: BodyLimits,
    { take, verdict }: BodyConsumer,
  ) {
    this.ended = this.#settle.promise;
    this.#request = request;
    this.#pace = new SenderPace(minBytesPerSecond, maxSeconds * 1000, () => this.stop(new Refusal('too_slow')));
    let read = 0;
    let freeBytes = verdict ? maxHeldBytes : maxBytes;
    const onData = (chunk: Buffer) => {
      if (read + chunk.length > maxBytes) return this.stop(new Refusal('media_too_large'));
      if (read + chunk.length > freeBytes) return this.#holdBack(chunk);
      read += chunk.length;
      if (!this.#pace.received(chunk.length)) return this.stop(new Refusal('too_slow'));
      try {
        take(chunk);
      } catch (error) {
        this.stop(error);
      }
    };
    verdict?.then(
      () => {
        freeBytes = maxBytes;
        this.#isAwaitingVerdict = false;
        this.#flow();
      },
      (refusal) => this.stop(refusal),
    );
    const onEnd = () => this.#end(() => this.#settle.resolve());
    const onGone = (cause?: unknown) => {
      if (!this.#isOver) this.stop(new ClientGone('the client went away', { cause }));
    };
    this.#stopListening = () => request.off('data', onData);
    // These stay: what becomes of the connection later is for the answer to find out.
    request.once('end', onEnd).on('error', onGone).once('close', onGone);
    this.#pace.wait();
    if (request.destroyed) onGone(request.errored ?? undefined);
    else request.on('data', onData);
  }

  /** Nothing more is taken until `resume`; the time until then does not count as the sender's. */
  pause(): void {
    this.#isPaused = true;
    this.#flow();
  }

  resume(): void {
    this.#isPaused = false;
    this.#flow();
  }

  /** Ends the reading at once. */
  stop(reason: unknown): void {
    this.#end(() => this.#settle.reject(reason));
  }

  #holdBack(chunk: Buffer): void {
    this.#isAwaitingVerdict = true;
    this.#flow();
    this.#request.unshift(chunk);
  }

  #flow(): void {
    if (this.#isOver) return;
    const isFlowing = !this.#isPaused && !this.#isAwaitingVerdict;
    if (isFlowing === this.#pace.isWaiting) return;
    if (isFlowing) {
      this.#pace.wait();
      this.#request.resume();
    } else {
      this.#pace.rest();
      this.#request.pause();
    }
  }

  #end(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopListening();
    this.#request.pause();
    this.#pace.rest();
    settle();
  }
}

// Only the time in which we wait for the sender counts; while we do not read, nobody is slow.
class SenderPace {
  readonly #minBytesPerSecond: number;
  readonly #endMs: number;
  readonly #tooSlow: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #waitedMs = 0;
  #bytes = 0;

  constructor(minBytesPerSecond: number, maxMs: number, tooSlow: () => void) {
    this.#minBytesPerSecond = minBytesPerSecond;
    this.#endMs = Date.now() + maxMs;
    this.#tooSlow = tooSlow;
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  wait(): void {
    this.#since = Date.now();
    const leftMs = this.#endMs - this.#since;
    // One timer serves nearly all chunks of an upload.
    if (this.#timer && leftMs >= paceWindowMs) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#tooSlow, Math.min(paceWindowMs, leftMs));
  }

  rest(): void {
    if (this.#timer) this.#waitedMs += Date.now() - this.#since;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Whether the sender keeps up the pace with this chunk. */
  received(bytes: number): boolean {
    const now = Date.now();
    if (this.#timer) this.#waitedMs += now - this.#since;
    this.wait();
    this.#bytes += bytes;
    if (this.#waitedMs < paceWindowMs) return true;
    const isFastEnough = (this.#bytes * 1000) / this.#waitedMs >= this.#minBytesPerSecond;
    this.#waitedMs = 0;
    this.#bytes = 0;
    return isFastEnough;
  }
}

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ClientGone, Refusal } from '../response/refusal-error.ts';

const paceSeconds = 30;
const minBytesPerSecond = 1024;
const maxUnverifiedBytes = 256 * 1024;
// Together, requests without a verdict must not fill the memory of the process: of the others, only what Node reads at once, up to 64 KiB, is taken.
const maxReadingAhead = 128;
let readingAhead = 0;

interface BodyLimits {
  readonly maxBytes: number;
  /** The refusal of a longer body. */
  readonly tooLarge: () => Refusal;
  readonly maxUploadSeconds: number;
}

/** The reading of a body. The sender's time does not count while it is paused. */
export interface BodyReading {
  /** Resolves at the end of the body. Rejects with `limits.tooLarge`, Refusal `too_slow`, ClientGone, or the argument of `stop`. */
  readonly ended: Promise<void>;
  /** Stops reading the connection. Bytes that it has read, at most 64 KiB, are still taken: in the request, each chunk would take 400 bytes. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly stop: (reason: unknown) => void;
}

/**
 * Passes the body of a request to `take`, whose error ends the reading. The request always stays open for the response.
 * @param verdict until it resolves, reading pauses at 256 KiB or, if 128 other requests wait for theirs, at the first bytes; its rejection ends the
 * reading
 */
export function readBody(
  request: Readable & Partial<Pick<IncomingMessage, 'complete' | 'socket'>>,
  limits: BodyLimits,
  take: (chunk: Buffer) => void,
  verdict?: Promise<unknown>,
): BodyReading {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const slownessAt = slownessOf(limits);
  let isOver = false;
  let isPaused = false;
  let read = 0;
  let maxRead = Number.POSITIVE_INFINITY;
  let isReadingAhead = verdict !== undefined && readingAhead < maxReadingAhead;
  if (verdict) maxRead = isReadingAhead ? maxUnverifiedBytes : 1;
  if (isReadingAhead) readingAhead += 1;
  const endReadingAhead = () => {
    if (isReadingAhead) readingAhead -= 1;
    isReadingAhead = false;
  };
  const { socket } = request;
  const pauseSocket = () => socket?.pause();
  const end = (settle: () => void) => {
    if (isOver) return;
    isOver = true;
    endReadingAhead();
    clearInterval(seconds);
    socket?.off('resume', pauseSocket);
    // After a complete body the connection belongs to the next request.
    if (isPaused && request.complete) socket?.resume();
    request.off('data', takeNext).pause();
    settle();
  };
  const stop = (reason: unknown) => end(() => reject(reason));
  const pause = () => {
    if (isOver || isPaused) return;
    isPaused = true;
    // Node resumes the socket of a request whose buffer is empty.
    if (socket && !request.complete) socket.on('resume', pauseSocket).pause();
    else request.pause();
  };
  const resume = () => {
    if (isOver || !isPaused) return;
    isPaused = false;
    socket?.off('resume', pauseSocket).resume();
    request.resume();
  };
  const takeNext = (chunk: Buffer) => {
    read += chunk.length;
    if (read > limits.maxBytes) return stop(limits.tooLarge());
    try {
      take(chunk);
    } catch (error) {
      stop(error);
    }
    if (read >= maxRead) pause();
  };
  const seconds = setInterval(() => {
    const slowness = slownessAt(read, isPaused);
    if (slowness) stop(new Refusal('too_slow', slowness));
  }, 1000);
  verdict?.then(() => {
    endReadingAhead();
    maxRead = Number.POSITIVE_INFINITY;
    resume();
  }, stop);
  const stopAsGone = (cause?: unknown) => isOver || stop(new ClientGone('the client went away', { cause }));
  // These listeners stay: an error after the reading belongs to the response.
  request
    .once('end', () => end(resolve))
    .on('error', stopAsGone)
    .once('close', stopAsGone);
  if (request.destroyed) stopAsGone(request.errored);
  else request.on('data', takeNext);
  return { ended, pause, resume, stop };
}

/** Decides once a second whether the sender is too slow, by the bytes so far. Paused seconds count only against `maxUploadSeconds`. */
function slownessOf({ maxUploadSeconds }: BodyLimits) {
  const tooLong = { message: 'total', values: { seconds: maxUploadSeconds } } as const;
  const tooSlow = { message: 'pace', values: { rate: minBytesPerSecond } } as const;
  let seconds = 0;
  let waited = 0;
  let silent = 0;
  let lastRead = 0;
  let windowStart = 0;
  return (read: number, isPaused: boolean) => {
    seconds += 1;
    if (seconds >= maxUploadSeconds) return tooLong;
    if (isPaused) return undefined;
    waited += 1;
    silent = read > lastRead ? 0 : silent + 1;
    lastRead = read;
    if (silent === paceSeconds) return tooSlow;
    if (waited < paceSeconds) return undefined;
    const isTooSlow = read - windowStart < paceSeconds * minBytesPerSecond;
    [waited, windowStart] = [0, read];
    return isTooSlow ? tooSlow : undefined;
  };
}

import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/**
 * Hands every chunk of `source` to `take`, one at a time: while the promise of `take` is pending, nothing is read. The signal
 * that `take` gets aborts as soon as the source has failed or `signal` has aborted, so that it need not wait in vain.
 * @throws the source's own error, the reason of `signal`, or what `take` threw, once no chunk is being taken; the source is destroyed then
 */
export async function consumeSource(
  source: Readable,
  signal: AbortSignal | undefined,
  take: (chunk: Buffer, halted: AbortSignal) => Promise<unknown> | undefined,
): Promise<void> {
  const halt = new AbortController();
  let taking: Promise<unknown> | undefined;
  const fail = (error: unknown) => {
    halt.abort(error);
    source.destroy();
  };
  const takeNext = (chunk: Buffer) => {
    if (halt.signal.aborted) return;
    try {
      taking = take(chunk, halt.signal);
    } catch (error) {
      return fail(error);
    }
    if (taking) source.pause();
    taking?.then(() => source.resume(), fail);
  };
  const stop = () => fail(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    // It may have been paused by whoever watches it too.
    source.on('data', takeNext).resume();
    await finished(source, { writable: false });
    // The end may come while the last chunk is still being taken.
    await taking;
    halt.signal.throwIfAborted();
  } catch (error) {
    fail(error);
    await Promise.allSettled([taking]);
    throw halt.signal.reason;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

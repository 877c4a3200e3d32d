import { finished, type Readable } from 'node:stream';

/** Nothing where a chunk was taken at once, else the end of taking it. */
export type Taken = Promise<unknown> | undefined;

/**
 * Hands every chunk of `source` to `take`, one at a time: while one is being taken nothing is read. The signal that `take`
 * gets aborts as soon as the source has failed or one of `signals` has aborted, so that it need not wait in vain.
 * @throws the source's own error, the reason of the signal, or what `take` threw, once no chunk is being taken; the source is destroyed then
 */
export async function consumeSource(
  source: Readable,
  signals: readonly AbortSignal[],
  take: (chunk: Buffer, halted: AbortSignal) => Taken,
): Promise<void> {
  const halt = new AbortController();
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let taking: Taken;
  const fail = (error: unknown) => {
    halt.abort(error);
    source.destroy();
    Promise.resolve(taking)
      .catch(() => {})
      .then(() => reject(error));
  };
  const takeNext = (chunk: Buffer) => {
    if (halt.signal.aborted) return;
    try {
      taking = take(chunk, halt.signal);
    } catch (error) {
      return fail(error);
    }
    if (taking === undefined) return;
    source.pause();
    taking.then(() => {
      taking = undefined;
      if (!halt.signal.aborted) source.resume();
    }, fail);
  };
  const stops = signals.map((signal) => ({ signal, stop: () => fail(signal.reason) }));
  for (const { signal, stop } of stops) signal.addEventListener('abort', stop, { once: true });
  const forget = finished(source, { writable: false }, (error) => {
    // The end may come while the last chunk is still being taken.
    if (error) fail(error);
    else if (taking) taking.then(() => resolve(), fail);
    else resolve();
  });
  try {
    for (const signal of signals) signal.throwIfAborted();
    // It may have been paused by whoever watches it too.
    source.on('data', takeNext).resume();
    await ended;
  } catch (error) {
    source.destroy();
    throw error;
  } finally {
    forget();
    source.off('data', takeNext);
    for (const { signal, stop } of stops) signal.removeEventListener('abort', stop);
  }
}

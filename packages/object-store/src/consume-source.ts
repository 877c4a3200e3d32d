import { finished, type Readable } from 'node:stream';

/**
 * Hands every chunk of `source` to `take`, one at a time: what `take` has not done yet is not read. The signal that `take`
 * gets aborts as soon as the source has failed or `signal` has aborted, so that it need not wait on for nothing.
 * @throws the source's own error, the reason of `signal`, or what `take` threw; the source is destroyed then
 */
export async function consumeSource(
  source: Readable,
  signal: AbortSignal | undefined,
  take: (chunk: Buffer, halted: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const halt = new AbortController();
  const stopped = () => {
    halt.abort(signal?.reason);
    source.destroy();
  };
  finished(source, { writable: false }, (error) => {
    if (error) halt.abort(error);
  });
  signal?.addEventListener('abort', stopped, { once: true });
  try {
    signal?.throwIfAborted();
    for await (const chunk of source.iterator({ destroyOnReturn: false })) await take(chunk, halt.signal);
    signal?.throwIfAborted();
  } catch (error) {
    const cause = halt.signal.aborted ? halt.signal.reason : error;
    source.destroy();
    throw cause;
  } finally {
    signal?.removeEventListener('abort', stopped);
  }
}

import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { freeChunk } from './free-chunk.ts';

export interface SourceOptions {
  readonly signal?: AbortSignal | undefined;
  /** Frees the memory of each chunk once its bytes are taken. The chunks may have no other reader. */
  readonly freesChunks?: boolean | undefined;
}

/**
 * Passes the chunks of `source` to `take` one at a time; reading pauses while a promise of `take` is pending. The signal
 * that `take` gets aborts when the source fails or `signal` aborts.
 * @throws the source's error, the reason of `signal`, or what `take` threw; the source is then destroyed and `take` is not running
 */
export async function consumeSource(
  source: Readable,
  { signal, freesChunks }: SourceOptions,
  take: (chunk: Buffer, halted: AbortSignal) => Promise<unknown> | undefined,
): Promise<void> {
  const halt = new AbortController();
  let taking: Promise<unknown> | undefined;
  const fail = (error: unknown) => {
    halt.abort(error);
    source.destroy();
  };
  const taken = (chunk: Buffer) => {
    if (freesChunks) freeChunk(chunk);
  };
  const takeNext = (chunk: Buffer) => {
    if (halt.signal.aborted) return;
    try {
      taking = take(chunk, halt.signal);
    } catch (error) {
      return fail(error);
    }
    if (taking) source.pause();
    else taken(chunk);
    taking?.then(() => {
      taken(chunk);
      source.resume();
    }, fail);
  };
  const stop = () => fail(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    // Another listener may have paused the source.
    source.on('data', takeNext).resume();
    await finished(source, { writable: false });
    // The source may end while its last chunk is still being taken.
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

import type { Readable } from 'node:stream';
import { consumeSource, type SourceOptions } from '../consume-source.ts';
import type { PartBuffer } from './part-buffer.ts';

interface FillOptions extends SourceOptions {
  /** Sends and empties the full part. */
  readonly sendFull: () => Promise<void>;
}

/**
 * Copies the bytes of `source` into `part`, and sends it whenever it is full and more bytes come. Reading pauses meanwhile.
 * @returns the number of bytes
 * @throws the source's error, the reason of `signal`, or the error of `sendFull`; it is then not running
 */
export async function fillParts(
  source: Readable,
  part: PartBuffer,
  { sendFull, ...options }: FillOptions,
): Promise<number> {
  let size = 0;
  const takeRest = async (taken: number | Promise<number>, chunk: Buffer, halted: AbortSignal) => {
    for (let rest = chunk.subarray(await taken); rest.length > 0; rest = rest.subarray(await part.fill(rest, halted))) {
      if (!part.isFull) continue;
      part.startSending();
      await sendFull();
    }
  };
  await consumeSource(source, options, (chunk, halted) => {
    size += chunk.length;
    const taken = part.fill(chunk, halted);
    return taken === chunk.length ? undefined : takeRest(taken, chunk, halted);
  });
  return size;
}

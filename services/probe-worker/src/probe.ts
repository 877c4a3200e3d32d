import { buffer } from 'node:stream/consumers';
import type { ProbeRequest } from '@echodrop/contracts/probe';
import type { MediaType } from '@echodrop/media/detect-media-type';
import type { Probe } from '@echodrop/media/outcomes';
import { probeMedia } from '@echodrop/media/probe-media';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { retryFor } from '@echodrop/service/retry-for';
import type { ProbeEvents } from './events.ts';

/** How long a read is worth another try, in milliseconds. A replicated store that lost a node fails reads, or misses objects, for seconds. */
const readRetryMs = 15_000;

interface ProbeDeps {
  readonly store: ObjectStore;
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  readonly typesOff: ReadonlySet<MediaType>;
  readonly events: ProbeEvents;
}

/**
 * Probes stored media. Unreadable media is a result, not an error.
 * @throws StoreUnavailable, ToolFailed, an Error if the media is missing, or the signal's reason
 */
export async function probe(
  request: ProbeRequest,
  signal: AbortSignal,
  { store, scratchDir, maxPixels, typesOff, events }: ProbeDeps,
): Promise<Probe> {
  const costs = { reads: 0, bytesRead: 0 };
  const readOnce = async (offset: number, length: number, signal: AbortSignal) => {
    const object = await store.read(mediaObjectKey(request.mediaKey), { range: { offset, length }, signal });
    if (object === undefined) throw new Error('media not found in object store');
    const bytes = await buffer(object.body);
    costs.reads += 1;
    costs.bytesRead += bytes.length;
    return bytes;
  };
  const read = (offset: number, length: number, signal: AbortSignal) =>
    retryFor(
      readRetryMs,
      () => readOnce(offset, length, signal),
      () => !signal.aborted,
    );
  const source = { size: request.size, head: request.head, read };
  const result = await probeMedia(source, { scratchDir, maxPixels, typesOff, signal });
  events.probed(request, result, costs);
  return result;
}

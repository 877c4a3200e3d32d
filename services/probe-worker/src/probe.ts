import type { ProbeRequest } from '@echodrop/contracts/probe';
import type { MediaType } from '@echodrop/media/media-type';
import { probeMedia } from '@echodrop/media/probe';
import type { Probe } from '@echodrop/media/probe-outcome';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { ProbeEvents } from './events.ts';
import { StoredMedia } from './stored-media.ts';

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
  const media = new StoredMedia(store, request);
  const result = await probeMedia(media, { scratchDir, maxPixels, typesOff, signal });
  events.probed(request, result, media.costs);
  return result;
}

import type { ProbeRequest } from '@echodrop/contracts/probe';
import type { MediaType } from '@echodrop/media/media-type';
import { probeMedia } from '@echodrop/media/probe';
import type { Probe } from '@echodrop/media/probe-outcome';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { ProbeEvents } from './events.ts';
import { StoredMedia } from './stored-media.ts';

interface Looking {
  readonly store: ObjectStore;
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  readonly typesOff: ReadonlySet<MediaType>;
  readonly events: ProbeEvents;
}

/**
 * The straight line: what the media is, found with as few reads of it as its type allows. What cannot be read as media is an answer.
 * @throws what keeps us from looking: StoreUnavailable, missing media, a broken ffprobe, or the signal's reason at the job's deadline
 */
export async function probe(
  question: ProbeRequest,
  signal: AbortSignal,
  { store, scratchDir, maxPixels, typesOff, events }: Looking,
): Promise<Probe> {
  const media = new StoredMedia(store, question);
  const answer = await probeMedia(media, { scratchDir, maxPixels, typesOff, signal });
  events.looked(question, answer, media.costs);
  return answer;
}

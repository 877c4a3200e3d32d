import type { ProbeClient } from '@echodrop/contracts/probe';
import type { MediaType } from '@echodrop/media/media-type';
import { probeJpeg } from '@echodrop/media/photo-size/jpeg-size';
import type { MediaLimits, Probe } from '@echodrop/media/probe-outcome';
import type { ReceivedMedia } from './received-media.ts';

/**
 * Finds what media is. A JPEG whose header lies in its first 16 KiB is read here: that costs less than a job, and runs no
 * decoder (docs/decisions/028). The probe-worker reads everything else.
 */
export class MediaProbe {
  readonly #client: Pick<ProbeClient, 'probe'>;
  readonly #limits: MediaLimits;
  readonly #probed: (probe: Probe) => void;
  /** How long a probe may take. */
  readonly deadlineMs: number;

  /** `probed` is called with every probe that needed no probe-worker. */
  constructor(
    client: Pick<ProbeClient, 'probe'>,
    limits: MediaLimits,
    deadlineMs: number,
    probed: (probe: Probe) => void,
  ) {
    this.#client = client;
    this.#limits = limits;
    this.#probed = probed;
    this.deadlineMs = deadlineMs;
  }

  /** What the stored `media` is; `type` is what its first bytes look like. @throws QueueUnavailable, or the signal's reason */
  async probe({ key: mediaKey, head, size }: ReceivedMedia, type: MediaType, signal: AbortSignal): Promise<Probe> {
    const probe = type === 'jpg' ? await probeJpeg(head, this.#limits) : undefined;
    if (!probe) return this.#client.probe({ mediaKey, size, head }, type, { deadlineMs: this.deadlineMs, signal });
    this.#probed(probe);
    return probe;
  }
}

import type { ProbeClient } from '@echodrop/contracts/probe';
import type { MediaType } from '@echodrop/media/media-type';
import { probeJpeg } from '@echodrop/media/photo-size/jpeg-size';
import type { MediaLimits, Probe } from '@echodrop/media/probe-outcome';
import type { ReceivedMedia } from '../receive/received-media.ts';

/**
 * Probes media. A JPEG whose header lies in its first 16 KiB is read here: that costs less than a job, and runs no decoder
 * (docs/decisions/028). The probe-worker reads everything else.
 */
export class MediaProbe {
  readonly #client: Pick<ProbeClient, 'probe'>;
  readonly #limits: MediaLimits;
  readonly #onProbed: (probe: Probe) => void;
  readonly deadlineMs: number;

  /** `onProbed` is called with each result that needed no probe-worker. */
  constructor(
    client: Pick<ProbeClient, 'probe'>,
    limits: MediaLimits,
    deadlineMs: number,
    onProbed: (probe: Probe) => void,
  ) {
    this.#client = client;
    this.#limits = limits;
    this.#onProbed = onProbed;
    this.deadlineMs = deadlineMs;
  }

  /** Probes stored `media` of the detected `type`. @throws QueueUnavailable, or the signal's reason */
  async probe({ key: mediaKey, head, size }: ReceivedMedia, type: MediaType, signal: AbortSignal): Promise<Probe> {
    const probe = type === 'jpg' ? await probeJpeg(head, this.#limits) : undefined;
    if (!probe) return this.#client.probe({ mediaKey, size, head }, type, { deadlineMs: this.deadlineMs, signal });
    this.#onProbed(probe);
    return probe;
  }
}

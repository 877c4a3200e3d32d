import type { Lane } from '@echodrop/contracts/rendition';
import type { VideoBounds } from '@echodrop/media/render-film';
import type { PictureBounds } from '@echodrop/media/render-pictures';

/** What a job may cost in a lane. */
export interface LaneLimits {
  readonly film: VideoBounds;
  readonly pictures: PictureBounds;
  /** Whether what costs more is deferred to the slow lane; else it is `too_costly` for good. */
  readonly defers: boolean;
}

// The slow lane runs at low priority: on one machine with the ordinary one it takes the processor time that is left. So it has more time by
// the clock; what it may cost is bounded by processor time.
const niceness = 10;

/** The slow lane has the limits of docs/media.md. */
export const laneLimits: Readonly<Record<Lane, LaneLimits>> = {
  ordinary: {
    // The longest that another owner's short video waits for the one that runs.
    film: { seconds: 60, estimatedSeconds: 20 },
    pictures: { seconds: 15, animationPixels: 50_000_000 },
    defers: true,
  },
  slow: { film: { niceness }, pictures: { seconds: 10 * 60, niceness }, defers: false },
};

/**
 * The limits for a video that is estimated at `estimatedSeconds` of processor time. In a lane that defers it gets three times as long by the
 * clock and 15 s: a file that lies about its length, or does not say it, must not hold the lane.
 */
export function limitsOfEstimate(limits: LaneLimits, estimatedSeconds: number): LaneLimits {
  if (!limits.defers) return limits;
  const { seconds = Number.POSITIVE_INFINITY } = limits.film;
  return { ...limits, film: { ...limits.film, seconds: Math.min(seconds, 15 + Math.ceil(3 * estimatedSeconds)) } };
}

import type { Lane, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { photoCostSeconds } from '@echodrop/media/render-picture/photo-cost';
import type { PictureLimits } from '@echodrop/media/render-picture/render-pictures';
import type { VideoLimits } from '@echodrop/media/render-video/render-video';
import type { Overruns } from './overruns.ts';

/** What a job may cost in a lane. */
export interface LaneLimits {
  readonly video: VideoLimits;
  readonly pictures: PictureLimits;
  /** The longest estimate of CPU time for the pictures of a photo. */
  readonly photoSeconds: number;
  /** Whether a job that costs more moves to a slower lane; else it is `too_costly`. */
  readonly canDefer: boolean;
  /** Wall-clock time for a video, in addition to three times its estimate. */
  readonly spareSeconds: number;
}

/**
 * The slow lane has the limits of docs/reference/media.md. On one machine, a slower lane gets the CPU time that quicker lanes do not
 * use. So the slow lane has more wall-clock time, and CPU time limits its jobs.
 */
export const laneLimits: Readonly<Record<Lane, LaneLimits>> = {
  // The longest wait of another owner's short video.
  quick: {
    video: { seconds: 8, estimatedSeconds: 2 },
    pictures: { seconds: 15, animationPixels: 10_000_000 },
    ...{ photoSeconds: 2, canDefer: true, spareSeconds: 2 },
  },
  medium: {
    video: { seconds: 60, estimatedSeconds: 20, niceness: 5 },
    pictures: { seconds: 60, niceness: 5 },
    ...{ photoSeconds: Number.POSITIVE_INFINITY, canDefer: true, spareSeconds: 15 },
  },
  slow: {
    video: { seconds: 2 * 60 * 60, niceness: 10 },
    pictures: { seconds: 10 * 60, niceness: 10 },
    ...{ photoSeconds: Number.POSITIVE_INFINITY, canDefer: false, spareSeconds: Number.POSITIVE_INFINITY },
  },
};

// Of a store on a local network.
const fetchedPerSecond = 100_000_000;

/** Whether a job exceeds a lane, judged before its media is fetched. The duration and codec of a video are only in its file. */
export function isKnownToBeCostly(
  { type, set, pixels = 0, bytes = 0, owner }: RenditionRequest,
  { limits, overruns }: { readonly limits: LaneLimits; readonly overruns: Overruns },
): boolean {
  if (!limits.canDefer) return false;
  if (isPhoto(type)) return photoCostSeconds({ type, pixels }, set) > limits.photoSeconds;
  return set === 'film' && (overruns.has(owner) || exceedsLane(limits, bytes / fetchedPerSecond));
}

/** Whether a video of this estimated CPU time moves to a slower lane. */
export function exceedsLane({ canDefer, video }: LaneLimits, estimatedSeconds: number): boolean {
  return canDefer && estimatedSeconds > (video.estimatedSeconds ?? Number.POSITIVE_INFINITY);
}

/**
 * The limits for a video and its pictures: a file with a wrong or missing duration must not block a lane that defers.
 * @param estimatedSeconds CPU time
 */
export function limitsForVideo(limits: LaneLimits, estimatedSeconds: number): LaneLimits {
  const { video, spareSeconds } = limits;
  if (!limits.canDefer) return limits;
  const { seconds = Number.POSITIVE_INFINITY } = video;
  return {
    ...limits,
    video: { ...video, seconds: Math.min(seconds, spareSeconds + Math.ceil(3 * estimatedSeconds)) },
    pictures: { ...limits.pictures, seconds: Math.min(seconds, limits.pictures.seconds ?? seconds) },
  };
}

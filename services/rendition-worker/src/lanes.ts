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
  /** CPU time for a video, in addition to four times its estimate. */
  readonly spareSeconds: number;
}

/**
 * The slow lane has the limits of docs/reference/media.md. CPU time decides about a lane: on a busy machine, a job would take as long in another.
 * Wall-clock time only ends tools that hang.
 */
export const laneLimits: Readonly<Record<Lane, LaneLimits>> = {
  // The longest wait of another owner's short video on an idle machine.
  quick: {
    video: { cpuSeconds: 12, seconds: 30, estimatedSeconds: 2 },
    pictures: { cpuSeconds: 15, seconds: 60, animationPixels: 10_000_000 },
    ...{ photoSeconds: 2, canDefer: true, spareSeconds: 4 },
  },
  medium: {
    video: { cpuSeconds: 100, seconds: 300, estimatedSeconds: 20, niceness: 5 },
    pictures: { cpuSeconds: 60, seconds: 300, niceness: 5 },
    ...{ photoSeconds: Number.POSITIVE_INFINITY, canDefer: true, spareSeconds: 20 },
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

/** How many lanes such a video moves: past those that would only fetch it. */
export function lanesToMove(estimatedSeconds: number): number {
  return exceedsLane(laneLimits.medium, estimatedSeconds) ? 2 : 1;
}

/**
 * The limits for a video and its pictures: a file with a wrong or missing duration must not block a lane that defers.
 * @param estimatedSeconds CPU time
 */
export function limitsForVideo(limits: LaneLimits, estimatedSeconds: number): LaneLimits {
  const { video, spareSeconds } = limits;
  if (!limits.canDefer) return limits;
  const { cpuSeconds = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY } = video;
  const { pictures } = limits;
  return {
    ...limits,
    video: { ...video, cpuSeconds: Math.min(cpuSeconds, spareSeconds + Math.ceil(4 * estimatedSeconds)) },
    pictures: {
      ...pictures,
      cpuSeconds: Math.min(cpuSeconds, pictures.cpuSeconds ?? cpuSeconds),
      seconds: Math.min(seconds, pictures.seconds ?? seconds),
    },
  };
}

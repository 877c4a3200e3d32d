import type { Lane, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { photoCostSeconds } from '@echodrop/media/render-picture/photo-cost';
import type { ProcessBudget } from '@echodrop/media/render-picture/picture-job';
import type { PictureLimits } from '@echodrop/media/render-picture/render-pictures';
import { minVideoCostSeconds } from '@echodrop/media/render-video/video-cost';
import { isVideo, type LocalMedia } from '@echodrop/media/video-layout/ffprobe';

/** What a job may cost in a lane. */
export interface LaneLimits {
  /** Whether a job that costs more moves to the slow lane; else it is `too_costly`. */
  readonly canDefer: boolean;
  /** The longest estimate of CPU time. */
  readonly estimatedSeconds: number;
  readonly video: ProcessBudget;
  readonly pictures: PictureLimits;
}

// CPU time decides about the lane: on a busy machine, a job would take as long in the slow one. Wall-clock time only ends tools that hang.
const quickBudget = { cpuSeconds: 12, seconds: 60 };

/** The slow lane has the limits of docs/reference/media.md. */
export const laneLimits: Readonly<Record<Lane, LaneLimits>> = {
  quick: {
    canDefer: true,
    estimatedSeconds: 2.5,
    video: quickBudget,
    pictures: { ...quickBudget, animationPixels: 10_000_000 },
  },
  slow: {
    canDefer: false,
    estimatedSeconds: Number.POSITIVE_INFINITY,
    video: { seconds: 2 * 60 * 60, niceness: 10 },
    pictures: { seconds: 10 * 60, niceness: 10 },
  },
};

// Of a store on a local network.
const fetchedPerSecond = 100_000_000;

/** Whether a job exceeds its lane, judged before its media is fetched. The duration and codec of a video are only in its file. */
export function isKnownToBeCostly(
  { type, set, pixels = 0, bytes = 0 }: RenditionRequest,
  { canDefer, estimatedSeconds }: LaneLimits,
): boolean {
  if (!canDefer) return false;
  if (isPhoto(type)) return photoCostSeconds({ type, pixels }, set) > estimatedSeconds;
  return set === 'film' && bytes / fetchedPerSecond > estimatedSeconds;
}

/** Whether a video exceeds its lane, judged by its tracks. */
export function isCostlyVideo(media: LocalMedia, { canDefer, estimatedSeconds }: LaneLimits): boolean {
  if (!canDefer || !isVideo(media) || typeof media.tracks !== 'object') return false;
  return minVideoCostSeconds(media.tracks, media.type) > estimatedSeconds;
}

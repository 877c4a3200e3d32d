import type { RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import type { Rendered } from '@echodrop/media/outcomes';
import { photoCostSeconds } from '@echodrop/media/render-picture/photo-cost';
import { minVideoCostSeconds } from '@echodrop/media/render-video/video-cost';
import type { LocalVideo } from '@echodrop/media/video-layout/read-video';
import { Deferred } from '@echodrop/queue/slow-lane';
import type { LaneLimits } from './lane-limits.ts';

// A store on a local network sends so many bytes a second.
const fetchedPerSecond = 100_000_000;

/**
 * Defers a job whose cost is known before its media is fetched. The duration and codec of a video are only in its file.
 * @throws Deferred
 */
export function deferKnownToBeCostly(
  { type, set, pixels = 0, bytes = 0 }: RenditionRequest,
  { canDefer, estimatedSeconds }: LaneLimits,
): void {
  const videoSeconds = set === 'film' ? bytes / fetchedPerSecond : 0;
  const seconds = isPhoto(type) ? photoCostSeconds({ type, pixels }, set) : videoSeconds;
  if (canDefer && seconds > estimatedSeconds) throw new Deferred();
}

/** Defers a job to make a video whose tracks show that it is costly. @throws Deferred */
export function deferCostlyVideo(video: LocalVideo, { canDefer, estimatedSeconds }: LaneLimits): void {
  if (canDefer && minVideoCostSeconds(video) > estimatedSeconds) throw new Deferred();
}

/** Defers a job that exceeded the limits of its lane. @throws Deferred */
export function deferExceeded(rendered: Rendered, { canDefer }: LaneLimits): void {
  if (rendered.outcome === 'made' || !canDefer) return;
  if (rendered.why === 'too_costly' || rendered.why === 'timed_out') throw new Deferred();
}

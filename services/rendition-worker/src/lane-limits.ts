import type { Lane } from '@echodrop/contracts/rendition';
import type { ToolBudget } from '@echodrop/media/sandbox/tool-limits';

/** What a job may cost in a lane. */
export interface LaneLimits {
  /** Whether a job that costs more moves to the slow lane; else it is `too_costly`. */
  readonly canDefer: boolean;
  /** The longest estimate of CPU time. */
  readonly estimatedSeconds: number;
  readonly video: ToolBudget;
  /** The limits of ffmpeg for the frame from which the pictures of a video are made. */
  readonly still: ToolBudget;
  readonly pictures: ToolBudget;
  /** The most pixels of an animation (`PictureOptions`). */
  readonly animationPixels?: number;
}

// CPU time decides about the lane: on a busy machine, a job would take as long in the slow lane. Elapsed time only ends tools that hang.
const quickBudget: ToolBudget = { cpuSeconds: 12, seconds: 60 };

/** The slow lane has the limits of docs/reference/media.md. */
export const laneLimits: Readonly<Record<Lane, LaneLimits>> = {
  quick: {
    canDefer: true,
    estimatedSeconds: 2.5,
    video: quickBudget,
    still: quickBudget,
    pictures: quickBudget,
    animationPixels: 10_000_000,
  },
  slow: {
    canDefer: false,
    estimatedSeconds: Number.POSITIVE_INFINITY,
    video: { cpuSeconds: 40 * 60, seconds: 2 * 60 * 60, niceness: 10 },
    still: { cpuSeconds: 60, seconds: 10 * 60, niceness: 10 },
    pictures: { cpuSeconds: 4 * 60, seconds: 10 * 60, niceness: 10 },
  },
};

import type { CrowdedOut } from './object-store.ts';
import { blockBytes, partBytes } from './part-size.ts';

/** Blocks of a lane. */
export const partBlocks = partBytes / blockBytes;

// An upload that fills a block more slowly is slow. This is 16 KiB/s.
const slowBlockMs = 8000;
// After this time, a waiting upload gets the memory of a sender that has more.
const fairWaitMs = 5000;

/** An upload that takes part memory. */
export interface PartHolder {
  /** Who sends the upload. Senders share the memory. */
  readonly sender: string;
  /** Ends the upload, because others need its memory. */
  readonly crowdOut: (reason: CrowdedOut) => void;
}

/** The part that an upload fills or sends. Times are those of `performance.now`. */
export interface HeldPart {
  readonly since: number;
  /** Granted blocks, without those of a lane. */
  blocks: number;
  /** A lane is enough memory for the rest of the part. */
  hasLane: boolean;
  /** Since when the upload fills its last block; undefined while it waits for a block. */
  fillingSince: number | undefined;
  isBeingSent: boolean;
  isCrowdedOut: boolean;
}

/** An upload that waits for its next block. */
export interface WaitingUpload {
  readonly holder: PartHolder;
  readonly since: number;
  /** Whether the upload took long to fill its last block. */
  readonly isSlow: boolean;
}

interface Demand {
  /** The parts, the oldest first. */
  readonly parts: ReadonlyMap<PartHolder, HeldPart>;
  readonly waiting: readonly WaitingUpload[];
  /** The waiting upload that is served next. */
  readonly next: WaitingUpload;
  /** Blocks that a sender holds. */
  readonly grantedTo: (sender: string) => number;
  readonly patienceMs: number;
}

/**
 * The upload that gives way to those that wait: of the sender that holds most, the oldest part (docs/decisions/upload-memory.md), if it is
 * - slow (16 KiB/s), and another sender's upload waits that is not slow;
 * - filled for longer than `patienceMs`;
 * - one whose memory leaves its sender with as much as the next in line then has, which has waited five seconds.
 */
export function findUploadToCrowdOut({ parts, waiting, next, grantedTo, patienceMs }: Demand): PartHolder | undefined {
  const now = performance.now();
  const least = grantedTo(next.holder.sender);
  const fast = new Set(waiting.filter((each) => !each.isSlow).map((each) => each.holder.sender));
  let found: PartHolder | undefined;
  for (const [holder, part] of parts) {
    const most = grantedTo(holder.sender);
    if (part.isBeingSent || part.isCrowdedOut || (found && grantedTo(found.sender) >= most)) continue;
    const isOvertaken = isSlow(part, now) && fast.size > (fast.has(holder.sender) ? 1 : 0);
    const isOld = now - part.since >= patienceMs;
    const isMore = most - blocksOf(part) >= least + blocksOf(part);
    if (isOvertaken || isOld || (isMore && now - Math.max(part.since, next.since) >= fairWaitMs)) found = holder;
  }
  return found;
}

/** Blocks that an upload holds, with those of its lane. */
export function blocksOf(part: HeldPart | undefined): number {
  return part ? part.blocks + (part.hasLane ? partBlocks : 0) : 0;
}

export function isSlow({ fillingSince }: HeldPart, now: number): boolean {
  return fillingSince !== undefined && now - fillingSince >= slowBlockMs;
}

import type { UnreadableRecord } from '@echodrop/record';
import type { UnreadableBlock } from './blocks.ts';

interface FaultOfKey {
  /** Key of the object concerned. */
  readonly key: string;
}

interface FaultOfRecord extends FaultOfKey {
  readonly id: string;
}

/** A difference between records and what the store has. */
export type StoreFault =
  | (FaultOfKey & { readonly fault: 'unknown_object' | 'no_record' | 'lists_nothing' | 'state_unreadable' })
  | (FaultOfRecord & { readonly fault: 'record_unreadable'; readonly error: UnreadableRecord })
  | (FaultOfKey & { readonly fault: 'block_unreadable'; readonly error: UnreadableBlock })
  | (FaultOfRecord & { readonly fault: 'media_missing' | 'not_listed' | 'removal_unfinished' })
  | (FaultOfRecord & { readonly fault: 'media_of_other_size'; readonly recorded: number; readonly stored: number })
  | (FaultOfRecord & { readonly fault: 'media_of_other_tag'; readonly recorded: string; readonly stored: string })
  /** The readable bytes differ from the uploaded ones. */
  | (FaultOfRecord & { readonly fault: 'media_spoiled'; readonly why: string });

/** An orphan, which is not a fault. */
interface Leftover {
  readonly leftover: 'media' | 'renditions';
  readonly key: string;
  readonly size: number;
  /** `young`: may belong to a running upload. `sweepable`: a sweep removes it. */
  readonly age: 'young' | 'sweepable';
}

/** The unreadable record at `key` may belong to any media, so no orphan is certain. */
interface Unsearched extends FaultOfKey {
  readonly unsearched: 'orphans';
}

export type StoreFinding = StoreFault | Leftover | Unsearched;

/** Progress of a check: all keys up to `cursor` are done. */
export interface Checked {
  readonly cursor: string;
  readonly findings: readonly StoreFinding[];
}

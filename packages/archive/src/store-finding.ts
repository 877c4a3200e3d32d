/** A difference between records and what the store has. `key` is that of the object concerned. */
export type StoreFault =
  | { readonly fault: 'record_unreadable'; readonly key: string; readonly why: string }
  | { readonly fault: 'no_record'; readonly key: string }
  | { readonly fault: 'record_misplaced'; readonly key: string; readonly id: string }
  | { readonly fault: 'media_missing'; readonly key: string; readonly id: string }
  | {
      readonly fault: 'media_of_other_size';
      readonly key: string;
      readonly id: string;
      readonly recorded: number;
      readonly stored: number;
    }
  | {
      readonly fault: 'media_of_other_tag';
      readonly key: string;
      readonly id: string;
      readonly recorded: string;
      readonly stored: string;
    }
  /** The readable bytes differ from the uploaded ones. */
  | { readonly fault: 'media_spoiled'; readonly key: string; readonly id: string; readonly why: string }
  | { readonly fault: 'not_listed'; readonly key: string; readonly id: string }
  | { readonly fault: 'lists_nothing'; readonly key: string }
  | { readonly fault: 'removal_unfinished'; readonly key: string; readonly id: string };

/** An unpublished object, which is not a fault. */
export interface Leftover {
  readonly leftover: 'media' | 'renditions';
  readonly key: string;
  readonly size: number;
  /** `young`: may belong to a running upload. `sweepable`: a sweep removes it. */
  readonly age: 'young' | 'sweepable';
}

export type StoreFinding = StoreFault | Leftover;

/** Progress of a check: all keys up to `cursor` are done. */
export interface Checked {
  readonly cursor: string;
  readonly findings: readonly StoreFinding[];
}

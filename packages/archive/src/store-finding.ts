import type { ListedObject } from '@echodrop/object-store/object-store';

/** A fault of the store: what is published is not as its record says, or what is not is shown. */
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
  /** The bytes that can be read are not those that were uploaded. */
  | { readonly fault: 'media_spoiled'; readonly key: string; readonly id: string; readonly why: string }
  | { readonly fault: 'not_listed'; readonly key: string; readonly id: string }
  | { readonly fault: 'lists_nothing'; readonly key: string }
  | { readonly fault: 'removal_unfinished'; readonly key: string; readonly id: string };

/** What lies in the store and is of no use; nothing is wrong with it. */
export interface Leftover {
  readonly leftover: 'media' | 'renditions';
  readonly key: string;
  readonly size: ListedObject['size'];
  /** Of what is young an upload may still run; what is not, a sweep removes. */
  readonly age: 'young' | 'sweepable';
}

/** `key` is the object's that it is about. */
export type StoreFinding = StoreFault | Leftover;

/** Something was looked at: all keys up to `cursor` are done, and this is what was found there. */
export interface Checked {
  readonly cursor: string;
  readonly findings: readonly StoreFinding[];
}

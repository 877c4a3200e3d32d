import type { StoredRecord } from './media-record.ts';

/** What takes the place of a record that was removed: enough to finish the removal, and nothing that was said or shown. */
export interface Tombstone extends Pick<StoredRecord, 'id' | 'mediaKey' | 'timestamp'> {
  /** The hash of provider and subject under which it was listed. */
  readonly owner: string;
  readonly removed: { readonly by: 'owner' | 'operator'; readonly at: Date };
}

/** Whether what lies in a record's place says that it was removed. */
export function isTombstone(found: StoredRecord | Tombstone): found is Tombstone {
  return 'removed' in found;
}

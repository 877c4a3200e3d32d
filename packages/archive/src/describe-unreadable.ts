import { recordKey } from '@echodrop/object-store/object-keys';
import { type UnreadableRecord, UnsupportedVersion } from '@echodrop/record';
import type { UnreadableBlock } from './blocks.ts';
import { RecordNotFound } from './records.ts';

/** Why the record of `id` cannot be read, and what to do. */
export function describeUnreadable(id: string, error: UnreadableRecord): string {
  const key = recordKey(id);
  // A node of the store that was down is likely to find the record soon, so nothing may be deleted.
  if (error instanceof RecordNotFound) return `record unreadable (${error.message}). Run this again in a minute.`;
  const remedy =
    error instanceof UnsupportedVersion
      ? 'If a later release wrote it, upgrade again. Otherwise'
      : `Restore ${key} from a backup. If no backup has it,`;
  return `record unreadable (${error.message}). ${remedy} delete ${key}, then run rebuild-listings: sweep deletes its media.`;
}

/** Why a block cannot be read, and what to do. */
export function describeUnreadableBlock(error: UnreadableBlock): string {
  return `block unreadable (${error.message}), but it still blocks uploads. To lift it, delete this object.`;
}

import { listObjects } from '@echodrop/object-store/list-objects';
import { mediaObjectKey, mediaPrefix, recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { pMapIterable } from 'p-map';
import { checkEntry } from './check-entry.ts';
import { type CheckDepth, checkRecord } from './check-record.ts';
import { listingPrefixes } from './listing.ts';
import type { Checked, StoreFinding } from './store-finding.ts';
import { findUnpublished } from './unpublished-objects.ts';

interface Verifying extends CheckDepth {
  /** A cursor that a check before this one gave: what comes before it is not looked at again. */
  readonly after?: string | undefined;
  /** How many objects are looked at together. */
  readonly atOnce: number;
  /** Younger media without a record may be that of an upload. */
  readonly olderThanMs: number;
  readonly keysPerBatch?: number;
  readonly signal: AbortSignal;
}

/** What is looked at, one after the other, by the beginnings of the keys. */
const sections = [recordsPrefix, ...listingPrefixes, mediaPrefix];

/** Whether a check can go on after `cursor`. */
export function isCheckCursor(cursor: string): boolean {
  return sections.some((prefix) => cursor.startsWith(prefix));
}

/**
 * Looks at everything in the store from both sides: every record and what it names, every entry of the lists, and all media and renditions. It
 * changes nothing, and uploads and removals may go on meanwhile.
 * @throws RangeError where `after` is no cursor; RecordsUnreadable after the lists, for then nothing can be said of media without a record; StoreUnavailable,
 * or the signal's reason
 */
export async function* verifyStore(
  store: ObjectStore,
  { after = recordsPrefix, atOnce: concurrency, ...verifying }: Verifying,
): AsyncGenerator<Checked> {
  if (!isCheckCursor(after)) throw new RangeError('not a cursor');
  const { signal } = verifying;
  const passed = (prefix: string) => (after.startsWith(prefix) ? after : undefined);
  const each = (prefix: string, check: (key: string) => Promise<StoreFinding[]>) => {
    const checked = async (key: string): Promise<Checked> => {
      signal.throwIfAborted();
      return { cursor: key, findings: await check(key) };
    };
    return pMapIterable(keysBelow(store, prefix, passed(prefix)), checked, { concurrency });
  };
  const left = sections.slice(sections.findIndex((prefix) => after.startsWith(prefix)));
  for (const prefix of left) {
    if (prefix === recordsPrefix) yield* each(prefix, (key) => checkRecord(store, key, verifying, signal));
    else if (prefix === mediaPrefix) yield* checkMedia(store, passed(prefix), verifying);
    else yield* each(prefix, (key) => checkEntry(store, key, signal));
  }
}

async function* keysBelow(store: ObjectStore, prefix: string, after: string | undefined): AsyncGenerator<string> {
  for await (const { key } of listObjects(store, prefix, after)) yield key;
}

async function* checkMedia(
  store: ObjectStore,
  after: string | undefined,
  { olderThanMs, ...looking }: Pick<Verifying, 'olderThanMs' | 'keysPerBatch' | 'signal'>,
): AsyncGenerator<Checked> {
  const before = (await store.clock()).getTime() - olderThanMs;
  let cursor = after ?? mediaPrefix;
  const looked = findUnpublished(store, { ...looking, after: cursor.slice(mediaPrefix.length) || undefined });
  for await (const { to, unpublished } of looked) {
    for await (const { kind: leftover, object, namedBy } of unpublished) {
      // What a removal has left is told with its record.
      if (namedBy === 'tombstone') continue;
      const age = object.writtenAt.getTime() < before ? 'sweepable' : 'young';
      yield { cursor, findings: [{ leftover, key: object.key, size: object.size, age }] };
    }
    cursor = mediaObjectKey(to);
    yield { cursor, findings: [] };
  }
}

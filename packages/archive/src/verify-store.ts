import { listKeys } from '@echodrop/object-store/list-objects';
import {
  mediaObjectKey,
  mediaPrefix,
  recordKey,
  recordsPrefix,
  resumablePrefixOf,
} from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { pMapIterable } from 'p-map';
import { readBlocks, UnreadableBlock } from './blocks.ts';
import { checkEntry } from './check-entry.ts';
import { type CheckDepth, checkRecord } from './check-record.ts';
import { findUnknownObjects } from './check-unknown-objects.ts';
import { findOrphans, type Orphan, RecordsUnreadable } from './find-orphans.ts';
import { ListingIndex, readListingIndex } from './listing-index.ts';
import { listingPrefixes } from './listing-keys.ts';
import { UnreadableState } from './resumable-state.ts';
import { listResumables, tryFindResumable } from './resumable-uploads.ts';
import type { Checked, StoreFinding } from './store-finding.ts';

interface VerifyOptions extends CheckDepth {
  /** Cursor of an earlier check: skips what comes before it. */
  readonly after?: string | undefined;
  /** Objects checked concurrently. */
  readonly concurrency: number;
  /** Younger media without a record may belong to a running upload. */
  readonly olderThanMs: number;
  readonly keysPerBatch?: number;
  readonly signal: AbortSignal;
}

/** Key prefixes, in the order of the check. */
const sections = [recordsPrefix, ...listingPrefixes, mediaPrefix];

export function isCheckCursor(cursor: string): boolean {
  return sections.some((prefix) => cursor.startsWith(prefix));
}

/**
 * Checks every record with its media and entries, every listing entry, all media and renditions, and blocks. Changes nothing; uploads and
 * removals may run meanwhile.
 * @throws RangeError if `after` is not a cursor; StoreUnavailable, or the signal's reason
 */
export async function* verifyStore(
  store: ObjectStore,
  { after = recordsPrefix, concurrency, ...options }: VerifyOptions,
): AsyncGenerator<Checked> {
  if (!isCheckCursor(after)) throw new RangeError('Invalid cursor.');
  const { signal } = options;
  const start = (prefix: string) => (after.startsWith(prefix) ? after : undefined);
  const checkAll = (prefix: string, check: (key: string) => Promise<StoreFinding[]>) => {
    const checkOne = async (key: string): Promise<Checked> => {
      signal.throwIfAborted();
      return { cursor: key, findings: await check(key) };
    };
    return pMapIterable(listKeys(store, prefix, { after: start(prefix) }), checkOne, { concurrency });
  };
  const listings = after.startsWith(recordsPrefix) ? await readListingIndex(store, { signal }) : new ListingIndex();
  const published = new ListingIndex();
  const checks = { ...options, listings, published };
  // The check of its record has found the entry, unless that record comes before the cursor.
  const checkUnlessPublished = async (key: string) => (published.hasKey(key) ? [] : checkEntry(store, key, signal));
  const remaining = sections.slice(sections.findIndex((prefix) => after.startsWith(prefix)));
  for (const prefix of remaining) {
    if (prefix === recordsPrefix) yield* checkAll(prefix, (key) => checkRecord(store, key, checks));
    else if (prefix === mediaPrefix) yield* checkMedia(store, start(prefix), options);
    else yield* checkAll(prefix, checkUnlessPublished);
  }
}

async function* checkMedia(
  store: ObjectStore,
  after: string | undefined,
  { olderThanMs, keysPerBatch, signal }: Pick<VerifyOptions, 'olderThanMs' | 'keysPerBatch' | 'signal'>,
): AsyncGenerator<Checked> {
  const before = (await store.clock()).getTime() - olderThanMs;
  const cursor = after ?? mediaPrefix;
  for await (const unknown of findUnknownObjects(store, signal)) yield { cursor, findings: [unknown] };
  for await (const { key, found } of readBlocks(store))
    if (found instanceof UnreadableBlock)
      yield { cursor, findings: [{ fault: 'block_unreadable', key, error: found }] };
  const { inProgress, findings } = await checkResumables(store);
  yield { cursor, findings };
  const isYoung = ({ mediaKey, object }: Orphan) => inProgress.has(mediaKey) || object.writtenAt.getTime() >= before;
  try {
    yield* searchOrphans(store, cursor, isYoung, { keysPerBatch, signal });
  } catch (error) {
    if (!(error instanceof RecordsUnreadable)) throw error;
    yield { cursor, findings: [{ unsearched: 'orphans', key: recordKey(error.id) }] };
  }
}

/** @throws RecordsUnreadable, StoreUnavailable, or the signal's reason */
async function* searchOrphans(
  store: ObjectStore,
  after: string,
  isYoung: (orphan: Orphan) => boolean,
  options: Pick<VerifyOptions, 'keysPerBatch' | 'signal'>,
): AsyncGenerator<Checked> {
  let cursor = after;
  const start = cursor.slice(mediaPrefix.length) || undefined;
  for await (const { to, orphans } of findOrphans(store, { ...options, after: start })) {
    for await (const orphan of orphans) {
      const { kind: leftover, object, reference } = orphan;
      // The check of its record reports an unfinished removal.
      if (reference === 'tombstone') continue;
      const age = isYoung(orphan) ? 'young' : 'sweepable';
      yield { cursor, findings: [{ leftover, key: object.key, size: object.size, age }] };
    }
    cursor = mediaObjectKey(to);
    yield { cursor, findings: [] };
  }
}

/** The media keys of unfinished uploads. */
async function checkResumables(store: ObjectStore) {
  const inProgress = new Set<string>();
  const findings: StoreFinding[] = [];
  for await (const { id } of listResumables(store)) {
    const upload = await tryFindResumable(store, id);
    if (upload instanceof UnreadableState) findings.push({ fault: 'state_unreadable', key: resumablePrefixOf(id) });
    else if (upload) inProgress.add(upload.state.mediaKey);
  }
  return { inProgress, findings };
}

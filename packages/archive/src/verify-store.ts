import { listKeys } from '@echodrop/object-store/list-objects';
import {
  mediaPrefix,
  recordKey,
  recordsPrefix,
  renditionsPrefix,
  resumablePrefixOf,
} from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { pMapIterable } from 'p-map';
import { readBlocks, UnreadableBlock } from './blocks.ts';
import { checkEntry } from './check-entry.ts';
import { type CheckDepth, checkRecord } from './check-record.ts';
import { findUnknownObjects } from './check-unknown-objects.ts';
import { findOrphans, listsOfOrphans, listsOfSearch, type Orphan, RecordsUnreadable } from './find-orphans.ts';
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
  readonly signal: AbortSignal;
}

/** Key prefixes, in the order of the check. */
const sections = [recordsPrefix, ...listingPrefixes, mediaPrefix];

// First for unknown objects.
const mediaLists = [mediaPrefix, renditionsPrefix, ...listsOfSearch];

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
  { after = recordsPrefix, ...options }: VerifyOptions,
): AsyncGenerator<Checked> {
  if (!isCheckCursor(after)) throw new RangeError('Invalid cursor.');
  if (!after.startsWith(mediaPrefix)) yield* checkRecordsAndEntries(store, { ...options, after });
  yield* checkMedia(store, options);
}

/** What a check from `after` lists, in order; at last, if there are orphans. */
export function listsOfCheck(after = recordsPrefix): string[][] {
  const lists: Readonly<Record<string, string[]>> = {
    [recordsPrefix]: [...listingPrefixes.toReversed(), recordsPrefix],
    [mediaPrefix]: mediaLists,
  };
  return [sectionsFrom(after).flatMap((prefix) => lists[prefix] ?? [prefix]), listsOfOrphans];
}

function sectionsFrom(after: string): string[] {
  return sections.slice(sections.findIndex((prefix) => after.startsWith(prefix)));
}

async function* checkRecordsAndEntries(
  store: ObjectStore,
  { after, concurrency, ...options }: VerifyOptions & { readonly after: string },
): AsyncGenerator<Checked> {
  const { signal } = options;
  const checkAll = (prefix: string, check: (key: string) => Promise<StoreFinding[]>) => {
    const checkOne = async (key: string): Promise<Checked> => {
      signal.throwIfAborted();
      return { cursor: key, findings: await check(key) };
    };
    const start = after.startsWith(prefix) ? after : undefined;
    return pMapIterable(listKeys(store, prefix, { after: start }), checkOne, { concurrency });
  };
  const listings = after.startsWith(recordsPrefix) ? await readListingIndex(store, { signal }) : new ListingIndex();
  const published = new ListingIndex();
  const checks = { ...options, listings, published };
  // The check of its record has found the entry, unless that record comes before the cursor.
  const checkUnlessPublished = async (key: string) => (published.hasKey(key) ? [] : checkEntry(store, key, signal));
  for (const prefix of sectionsFrom(after)) {
    if (prefix === recordsPrefix) yield* checkAll(prefix, (key) => checkRecord(store, key, checks));
    else if (prefix !== mediaPrefix) yield* checkAll(prefix, checkUnlessPublished);
  }
}

async function* checkMedia(
  store: ObjectStore,
  { olderThanMs, signal }: Pick<VerifyOptions, 'olderThanMs' | 'signal'>,
): AsyncGenerator<Checked> {
  const before = (await store.clock()).getTime() - olderThanMs;
  const cursor = mediaPrefix;
  for await (const unknown of findUnknownObjects(store, signal)) yield { cursor, findings: [unknown] };
  for await (const { key, found } of readBlocks(store))
    if (found instanceof UnreadableBlock)
      yield { cursor, findings: [{ fault: 'block_unreadable', key, error: found }] };
  const { inProgress, findings } = await checkResumables(store);
  yield { cursor, findings };
  const isYoung = ({ mediaKey, object }: Orphan) => inProgress.has(mediaKey) || object.writtenAt.getTime() >= before;
  try {
    const { orphans } = await findOrphans(store, { signal });
    for await (const orphan of orphans) {
      const { kind: leftover, object, reference } = orphan;
      // The check of its record reports an unfinished removal.
      if (reference === 'tombstone') continue;
      const age = isYoung(orphan) ? 'young' : 'sweepable';
      yield { cursor, findings: [{ leftover, key: object.key, size: object.size, age }] };
    }
  } catch (error) {
    if (!(error instanceof RecordsUnreadable)) throw error;
    yield { cursor, findings: [{ unsearched: 'orphans', key: recordKey(error.id) }] };
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

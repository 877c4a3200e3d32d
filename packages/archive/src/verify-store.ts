import { listKeys } from '@echodrop/object-store/list-objects';
import {
  blocksPrefix,
  mediaPrefix,
  recordKey,
  recordsPrefix,
  renditionsPrefix,
  resumablePrefix,
  resumablePrefixOf,
} from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { pMapIterable } from 'p-map';
import { readBlocks, UnreadableBlock } from './blocks.ts';
import { checkEntry } from './check-entry.ts';
import { type CheckDepth, checkRecord, faultOf, type StoreFinding } from './check-record.ts';
import { describeUnreadableBlock } from './describe-unreadable.ts';
import { findOrphans, RecordsUnreadable } from './find-orphans.ts';
import { ListingIndex, readListingIndex } from './listing-index.ts';
import { listingPrefixes } from './listing-keys.ts';
import { UnreadableState } from './resumable-state.ts';
import { surveyResumables } from './sweep-resumables.ts';

interface VerifyOptions extends CheckDepth {
  /** The cursor of an earlier check. Keys before the cursor are skipped. */
  readonly after?: string | undefined;
  /** Objects checked concurrently. */
  readonly concurrency: number;
}

/** Progress of a check: all keys up to `cursor` are done. */
interface Checked {
  readonly cursor: string;
  readonly findings: readonly StoreFinding[];
}

// Younger media without a record may belong to a running upload.
const youngMs = 24 * 3_600_000;

/** Key prefixes, in the order of the check. */
const sections = [recordsPrefix, ...listingPrefixes, mediaPrefix];

const hash = '[0-9a-f]{32}';
// All keys below these prefixes have these shapes.
const shapes = [
  [mediaPrefix, new RegExp(`^${mediaPrefix}${hash}$`)],
  [renditionsPrefix, new RegExp(`^${renditionsPrefix}${hash}/[\\w.-]+$`)],
  [blocksPrefix('users'), new RegExp(`^${blocksPrefix('users')}${hash}$`)],
  [blocksPrefix('applications'), new RegExp(`^${blocksPrefix('applications')}${hash}$`)],
  [resumablePrefix, new RegExp(`^${resumablePrefix}${hash}/(?:(?:0|[1-9]\\d{0,8})\\.json|tail-${hash})$`)],
] as const;

export function isCheckCursor(cursor: string): boolean {
  return sections.some((prefix) => cursor.startsWith(prefix));
}

/**
 * Checks every record with its media and entries, every listing entry, all media and renditions, and blocks. Changes nothing; uploads and
 * removals may run meanwhile.
 * @throws RangeError if `after` is not a cursor; StoreUnavailable
 */
export async function* verifyStore(
  store: ObjectStore,
  { after = recordsPrefix, ...options }: VerifyOptions,
): AsyncGenerator<Checked> {
  if (!isCheckCursor(after)) throw new RangeError('Invalid cursor.');
  if (!after.startsWith(mediaPrefix)) yield* checkRecordsAndEntries(store, { ...options, after });
  const checks = [findUnknownObjects(store), findUnreadableBlocks(store), findMediaWithoutRecords(store)];
  for (const check of checks) for await (const finding of check) yield { cursor: mediaPrefix, findings: [finding] };
}

async function* checkRecordsAndEntries(
  store: ObjectStore,
  { after, concurrency, ...depth }: VerifyOptions & { readonly after: string },
): AsyncGenerator<Checked> {
  const listings = after.startsWith(recordsPrefix) ? await readListingIndex(store) : new ListingIndex();
  const published = new ListingIndex();
  const checkKey = async (prefix: string, key: string) => {
    if (prefix === recordsPrefix) return checkRecord(store, key, { ...depth, listings, published });
    // The check of the entry's record has found the entry, unless the record comes before the cursor.
    return published.hasKey(key) ? [] : checkEntry(store, key);
  };
  const first = sections.findIndex((prefix) => after.startsWith(prefix));
  for (const prefix of sections.slice(first, sections.indexOf(mediaPrefix))) {
    const start = after.startsWith(prefix) ? after : undefined;
    const check = async (key: string): Promise<Checked> => ({ cursor: key, findings: await checkKey(prefix, key) });
    yield* pMapIterable(listKeys(store, prefix, { after: start }), check, { concurrency });
  }
}

/** Finds objects that nothing reads or sweeps, among media, renditions, blocks and resumable uploads. */
async function* findUnknownObjects(store: ObjectStore): AsyncGenerator<StoreFinding> {
  for (const [prefix, shape] of shapes)
    for await (const key of listKeys(store, prefix))
      if (!shape.test(key)) yield faultOf(key, 'not an object of Echodrop. Delete it, or move it elsewhere.');
}

async function* findUnreadableBlocks(store: ObjectStore): AsyncGenerator<StoreFinding> {
  for await (const { key, found } of readBlocks(store))
    if (found instanceof UnreadableBlock) yield faultOf(key, describeUnreadableBlock(found));
}

async function* findMediaWithoutRecords(store: ObjectStore): AsyncGenerator<StoreFinding> {
  const now = (await store.clock()).getTime();
  const resumables = await surveyResumables(store, { now, olderThanMs: youngMs });
  if (resumables.failure !== undefined && !(resumables.failure instanceof UnreadableState)) throw resumables.failure;
  for (const id of resumables.unreadable)
    yield faultOf(
      resumablePrefixOf(id),
      'state of a resumable upload unreadable. Delete these objects; until then sweep deletes no orphans, for up to 30 days.',
    );
  try {
    const { orphans } = await findOrphans(store);
    for await (const { kind, object, mediaKey, isRemoved } of orphans) {
      // The check of its record reports an unfinished removal.
      if (isRemoved) continue;
      const isYoung = resumables.needs(mediaKey) || object.writtenAt.getTime() >= now - youngMs;
      const orphan = `${kind === 'media' ? 'orphaned media' : 'rendition of orphaned media'}, ${object.size} bytes`;
      const text = isYoung
        ? `${orphan}, younger than a day: may be an upload in progress.`
        : `${orphan}: sweep deletes it.`;
      yield { key: object.key, kind: 'orphan', text };
    }
  } catch (error) {
    if (!(error instanceof RecordsUnreadable)) throw error;
    const text =
      'orphans were not searched: this record is unreadable, and may belong to any media. Until it is readable or deleted, sweep deletes no media.';
    yield { key: recordKey(error.id), kind: 'unsearched', text };
  }
}

import { listObjects } from '@echodrop/object-store/list-objects';
import { mediaObjectKey, mediaPrefix, recordsPrefix, resumablePrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { pMapIterable } from 'p-map';
import { checkEntry } from './check-entry.ts';
import { type CheckDepth, checkRecord } from './check-record.ts';
import { findOrphans } from './find-orphans.ts';
import { listingPrefixes } from './listing-keys.ts';
import { listResumables, tryFindResumable, UnreadableState } from './resumable-uploads.ts';
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
 * Checks every record with its media and entries, every listing entry, and all media and renditions. Changes nothing; uploads and
 * removals may run meanwhile.
 * @throws RangeError if `after` is not a cursor; RecordsUnreadable after the lists; StoreUnavailable, or the signal's reason
 */
export async function* verifyStore(
  store: ObjectStore,
  { after = recordsPrefix, concurrency, ...options }: VerifyOptions,
): AsyncGenerator<Checked> {
  if (!isCheckCursor(after)) throw new RangeError('Invalid cursor.');
  const { signal } = options;
  const start = (prefix: string) => (after.startsWith(prefix) ? after : undefined);
  const checkAll = (prefix: string, check: (key: string) => Promise<StoreFinding[]>) => {
    const checkOne = async ({ key }: { key: string }): Promise<Checked> => {
      signal.throwIfAborted();
      return { cursor: key, findings: await check(key) };
    };
    return pMapIterable(listObjects(store, prefix, start(prefix)), checkOne, { concurrency });
  };
  const remaining = sections.slice(sections.findIndex((prefix) => after.startsWith(prefix)));
  for (const prefix of remaining) {
    if (prefix === recordsPrefix) yield* checkAll(prefix, (key) => checkRecord(store, key, options, signal));
    else if (prefix === mediaPrefix) yield* checkMedia(store, start(prefix), options);
    else yield* checkAll(prefix, (key) => checkEntry(store, key, signal));
  }
}

async function* checkMedia(
  store: ObjectStore,
  after: string | undefined,
  { olderThanMs, keysPerBatch, signal }: Pick<VerifyOptions, 'olderThanMs' | 'keysPerBatch' | 'signal'>,
): AsyncGenerator<Checked> {
  const before = (await store.clock()).getTime() - olderThanMs;
  let cursor = after ?? mediaPrefix;
  const { inProgress, findings } = await checkResumables(store);
  yield { cursor, findings };
  const start = cursor.slice(mediaPrefix.length) || undefined;
  for await (const { to, orphans } of findOrphans(store, { keysPerBatch, signal, after: start })) {
    for await (const { kind: leftover, object, mediaKey, reference } of orphans) {
      // The check of its record reports an unfinished removal.
      if (reference === 'tombstone') continue;
      const isYoung = inProgress.has(mediaKey) || object.writtenAt.getTime() >= before;
      const age = isYoung ? 'young' : 'sweepable';
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
    if (upload instanceof UnreadableState)
      findings.push({ fault: 'state_unreadable', key: resumablePrefixOf(id), why: upload.message });
    else if (upload) inProgress.add(upload.state.mediaKey);
  }
  return { inProgress, findings };
}

import { findBlock, UnreadableBlock } from '@echodrop/archive/blocks';
import { missingListingKeys } from '@echodrop/archive/listing';
import { listingEntryOf } from '@echodrop/archive/listing-keys';
import { mediaObjectKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone } from '@echodrop/record';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { shownKey } from './command-context.ts';
import { readUpload } from './upload-address.ts';

// Media has a dozen renditions, and notes on some of them.
const maxRenditions = 100;

type Row = readonly [label: string, value: string];

/** Describes one upload, a line for each property. @throws StoreUnavailable; CommandFailed if it does not exist or is unreadable */
export async function* showUpload(
  store: ObjectStore,
  id: string,
  publicSite: string | undefined,
): AsyncGenerator<string> {
  const found = await readUpload(store, id);
  const rows: Row[] = [
    ['id', id],
    ...(publicSite === undefined ? [] : [['page', `${publicSite}/${id}`] as const]),
    ['published', found.timestamp.toISOString()],
    ...(isTombstone(found) ? await rowsOfDeleted(store, found) : await rowsOfPublished(store, found)),
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  for (const [label, value] of rows) yield `${label.padEnd(width)}  ${value}`;
}

async function rowsOfDeleted(store: ObjectStore, { id, mediaKey, removed }: Tombstone): Promise<Row[]> {
  const isLeft = await store.exists(mediaObjectKey(mediaKey));
  return [
    ['deleted', `by ${removed.by === 'owner' ? 'its owner' : 'an operator'} on ${removed.at.toISOString()}`],
    ['media', isLeft ? `left by an unfinished deletion. Finish it: remove ${id}` : 'deleted'],
  ];
}

async function rowsOfPublished(store: ObjectStore, record: StoredRecord): Promise<Row[]> {
  const { type, width, height, size, text, alt, user, provider, subject, application } = record;
  return [
    ['file', `${type}, ${width}x${height}, ${size} bytes`],
    ['caption', quote(text)],
    ...(alt === undefined ? [] : [['alternative text', quote(alt)] as const]),
    ['user', `${quote(user.screenName)}, user.id ${user.id}`],
    ['provider', quote(provider)],
    ['subject', quote(subject)],
    ['application', quote(application)],
    ['blocked', await describeBlocks(store, record)],
    ['listings', await describeListings(store, record)],
    ['media', await describeMedia(store, record)],
    ['renditions', await listRenditions(store, record)],
  ];
}

// The commands for its user need the whole of provider and subject.
function quote(text: string): string {
  return quoteForTerminal(text, Number.POSITIVE_INFINITY);
}

async function describeBlocks(store: ObjectStore, { provider, subject, application }: StoredRecord): Promise<string> {
  const blockables = [
    { kind: 'user', provider, subject } as const,
    { kind: 'application', name: application } as const,
  ];
  const described = await Promise.all(
    blockables.map(async (each) => {
      const found = await findBlock(store, each);
      const since =
        found instanceof UnreadableBlock
          ? `block unreadable (${found.message})`
          : `since ${found?.since.toISOString()}`;
      return found && `the ${each.kind}, ${since}`;
    }),
  );
  return described.filter((each) => each !== undefined).join('; ') || 'no';
}

async function describeListings(store: ObjectStore, record: StoredRecord): Promise<string> {
  const missing = await missingListingKeys(store, listingEntryOf(record));
  return missing.length > 0 ? 'incomplete. Run rebuild-listings' : 'complete';
}

async function describeMedia(store: ObjectStore, { mediaKey, size }: StoredRecord): Promise<string> {
  const key = mediaObjectKey(mediaKey);
  const media = await store.stat(key);
  if (!media) return `${key} is missing. Restore it from a backup`;
  return media.size === size ? key : `${key} has ${media.size} bytes. Restore it from a backup`;
}

async function listRenditions(store: ObjectStore, { mediaKey }: StoredRecord): Promise<string> {
  const prefix = renditionsPrefixOf(mediaKey);
  const stored = await store.listKeys(prefix, { limit: maxRenditions + 1 });
  const names = stored.slice(0, maxRenditions).map((key) => shownKey(key.slice(prefix.length)));
  return [...names, ...(stored.length > maxRenditions ? ['and more'] : [])].join(', ') || 'none';
}

import { listNewest } from '@echodrop/archive/listing';
import { type Owner, ownerHash } from '@echodrop/archive/owner';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';
import { quoteForTerminal } from './quote-for-terminal.ts';

interface Page {
  readonly owner?: Owner | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Lists the newest uploads, a line each, and the cursor of the next page. @throws StoreUnavailable; RangeError if `after` is not a cursor */
export async function* listUploads(store: ObjectStore, { owner, after, limit }: Page): AsyncGenerator<string> {
  const unreadable: string[] = [];
  const { records, next } = await listNewest(store, {
    ...{ owner: owner && ownerHash(owner), after, limit },
    unreadable: (id) => unreadable.push(id),
  });
  if (records.length === 0) yield 'No uploads.';
  else yield 'published  id  type  bytes  user  provider  subject  application  caption';
  for (const record of records) yield uploadLine(record);
  for (const id of unreadable) yield `${id}: record unreadable`;
  if (next !== undefined) yield `More uploads: --after ${next}`;
}

function uploadLine({ id, timestamp, type, size, application, text, user, provider, subject }: StoredRecord): string {
  const untrusted = [user.screenName, provider, subject, application, text].map(quoteForTerminal);
  return [timestamp.toISOString(), id, type, size, ...untrusted].join('  ');
}

import { listNewest } from '@echodrop/archive/listing';
import { type Owner, ownerHash } from '@echodrop/archive/owner';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';
import { onOneLine } from './on-one-line.ts';

interface Asked {
  readonly owner?: Owner | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The newest uploads, a line each, and how to go on where there are more. @throws StoreUnavailable; RangeError where `after` is no cursor */
export async function* listUploads(store: ObjectStore, { owner, after, limit }: Asked): AsyncGenerator<string> {
  const unreadable: string[] = [];
  const { records, next } = await listNewest(store, {
    ...{ owner: owner && ownerHash(owner), after, limit },
    unreadable: (id) => unreadable.push(id),
  });
  if (records.length === 0) yield 'Nothing is listed.';
  else yield 'published  id  type  bytes  user  provider  subject  application  caption';
  for (const record of records) yield uploadLine(record);
  for (const id of unreadable) yield `${id}: the record cannot be read`;
  if (next !== undefined) yield `There are more: --after ${next}`;
}

/** An upload on one line, with nothing in it that a terminal would obey. */
export function uploadLine({ id, timestamp, type, size, application, text, user, ...owner }: StoredRecord): string {
  const whose = [user.screenName, owner.provider, owner.subject, application].map(onOneLine).join('  ');
  return `${timestamp.toISOString()}  ${id}  ${type}  ${size}  ${whose}  ${onOneLine(text)}`;
}

import { resumablePrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StagedWrite } from '@echodrop/object-store/staged-write';
import { pMapIterable } from 'p-map';
import { type ResumableState, UnreadableState } from './resumable-state.ts';
import {
  type ListedResumable,
  listResumables,
  maxExpiryMs,
  removeResumable,
  tryFindResumable,
} from './resumable-uploads.ts';

interface ExpiredResumable {
  readonly id: string;
  /** The write of the upload; undefined for the remnant of a removal, and for an unreadable state. */
  readonly write?: StagedWrite;
  /** The bytes that the removal of the upload frees. */
  readonly bytes: number;
}

/** The resumable uploads of a store. */
export interface ResumableSurvey {
  readonly expired: readonly ExpiredResumable[];
  /** The ids of the uploads whose states cannot be read. */
  readonly unreadable: readonly string[];
  /** The first error of a read, an unreadable state included. */
  readonly failure: unknown;
  /** Whether a running upload may need the media of this key, or the unfinished write of this id. */
  readonly needs: (keyOrId: string) => boolean;
}

const concurrency = 8;

/**
 * Reads the states of all resumable uploads. `now` is the store's time, and what is younger than `olderThanMs` may be missing from lists.
 * @throws StoreUnavailable of a list
 */
export async function surveyResumables(
  store: ObjectStore,
  { now, olderThanMs }: { readonly now: number; readonly olderThanMs: number },
): Promise<ResumableSurvey> {
  const expired: ExpiredResumable[] = [];
  const unreadable: string[] = [];
  const needed = new Set<string | undefined>();
  let failure: unknown;
  // If a state is unreadable, or missing from lists, running uploads may need anything.
  let isComplete = true;
  const isOlder = ({ writtenAt }: ListedResumable, ms: number) => writtenAt.getTime() < now - ms;

  const surveyState = ({ expires, mediaKey, write, isPublished }: ResumableState, listed: ListedResumable) => {
    const hasExpired = expires.getTime() < now || isOlder(listed, maxExpiryMs);
    if (hasExpired) expired.push({ id: listed.id, write, bytes: isPublished ? 0 : write.size });
    else if (!isPublished) needed.add(mediaKey).add(write.id);
  };
  const survey = async (listed: ListedResumable) => {
    const { id } = listed;
    const found = await tryFindResumable(store, id);
    if (found instanceof UnreadableState) {
      failure ??= found;
      unreadable.push(id);
      if (isOlder(listed, maxExpiryMs)) expired.push({ id, bytes: 0 });
      else isComplete = false;
    } else if (found) surveyState(found.state, listed);
    else if ((await store.listKeys(resumablePrefixOf(id), { limit: 1 })).length > 0) {
      // An interrupted removal has left these objects. If they are young, they may be of an upload whose last state the list has missed.
      expired.push({ id, bytes: 0 });
      if (!isOlder(listed, olderThanMs)) isComplete = false;
    }
  };
  const surveyOrKeepAll = (listed: ListedResumable) =>
    survey(listed).catch((error: unknown) => {
      failure ??= error;
      isComplete = false;
    });
  for await (const _ of pMapIterable(listResumables(store), surveyOrKeepAll, { concurrency }));
  return { expired, unreadable, failure, needs: (keyOrId) => !isComplete || needed.has(keyOrId) };
}

/** Removes an expired upload, unless it turns out to have a state. @throws StoreUnavailable */
export async function removeExpired(store: ObjectStore, { id, write }: ExpiredResumable): Promise<void> {
  const found = write ? undefined : await tryFindResumable(store, id);
  if (found === undefined || found instanceof UnreadableState) await removeResumable(store, id, write);
}

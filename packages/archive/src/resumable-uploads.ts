import { listKeys, listObjects, removeObjects } from '@echodrop/object-store/list-objects';
import { isMediaKey, resumablePrefix, resumablePrefixOf } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { ObjectTooLarge, readSmallObject } from '@echodrop/object-store/read-small-object';
import type { StagedWrite } from '@echodrop/object-store/staged-write';
import { decodeState, encodeState, maxStateBytes, type ResumableState, UnreadableState } from './resumable-state.ts';

/** A state with its number. Each further state has the next one. */
export interface ResumableUpload {
  readonly id: string;
  readonly number: number;
  readonly state: ResumableState;
}

/** The longest that an upload may take, from its creation. */
export const maxExpiryMs = 30 * 24 * 3_600_000;

/** Another process has saved a state since. */
export class StateConflict extends Error {
  override readonly name = 'StateConflict';
}

// A state may be replaced before it is read. A reader then tries the next one, at most so often.
const maxTries = 10;

/** Saves the first state of a new upload. @throws StoreUnavailable */
export function createResumable(store: ObjectStore, id: string, state: ResumableState): Promise<ResumableUpload> {
  return writeState(store, { id, number: 0, state });
}

/**
 * The last state of an upload; undefined if there is none.
 * @param known the number of a state, which saves listing the states. If it is not the last one but was not removed, the next save conflicts
 * @throws StoreUnavailable, UnreadableState
 */
export async function findResumable(
  store: ObjectStore,
  id: string,
  known?: number,
): Promise<ResumableUpload | undefined> {
  if (!isMediaKey(id)) return undefined;
  const found = known === undefined ? undefined : await readState(store, id, known);
  if (found) return found;
  for (let tries = 0; tries < maxTries; tries += 1) {
    let number = -1;
    for await (const key of listKeys(store, resumablePrefixOf(id))) number = Math.max(number, numberOf(id, key));
    if (number < 0) return undefined;
    const last = await readState(store, id, number);
    // A missing state has been replaced by its successor since.
    if (last) return last;
  }
  throw new StoreUnavailable('state not found although the store lists it');
}

/** Does what `findResumable` does, but returns UnreadableState. @throws StoreUnavailable */
export async function tryFindResumable(
  store: ObjectStore,
  id: string,
): Promise<ResumableUpload | UnreadableState | undefined> {
  return findResumable(store, id).catch((error) => {
    if (error instanceof UnreadableState) return error;
    throw error;
  });
}

async function readState(store: ObjectStore, id: string, number: number): Promise<ResumableUpload | undefined> {
  const bytes = await readSmallObject(store, stateKey(id, number), maxStateBytes).catch((error) => {
    throw error instanceof ObjectTooLarge ? new UnreadableState(id, { cause: error }) : error;
  });
  return bytes && { id, number, state: decodeState(bytes, id) };
}

/** Saves the next state, and removes the one before. @throws StateConflict, StoreUnavailable */
export async function saveResumable(
  store: ObjectStore,
  { id, number }: ResumableUpload,
  state: ResumableState,
): Promise<ResumableUpload> {
  const saved = await writeState(store, { id, number: number + 1, state });
  // An earlier state that remains is removed with the upload.
  await store.remove(stateKey(id, number)).catch(() => {});
  return saved;
}

/** Removes an upload with its bytes; published media stays. Without `write`, what an interrupted removal has left. @throws StoreUnavailable */
export async function removeResumable(store: ObjectStore, id: string, write?: StagedWrite): Promise<void> {
  if (write) await store.discardWrite(write);
  await removeObjects(store, resumablePrefixOf(id));
}

export interface ListedResumable {
  readonly id: string;
  /** The latest time of one of its objects, by the store's clock. */
  readonly writtenAt: Date;
}

/** All resumable uploads. @throws StoreUnavailable */
export async function* listResumables(store: ObjectStore): AsyncGenerator<ListedResumable> {
  let last: ListedResumable | undefined;
  for await (const { key, writtenAt } of listObjects(store, resumablePrefix)) {
    const [id = ''] = key.slice(resumablePrefix.length).split('/');
    if (!isMediaKey(id)) continue;
    if (last && last.id !== id) yield last;
    last = last?.id === id && last.writtenAt > writtenAt ? last : { id, writtenAt };
  }
  if (last) yield last;
}

/** The last states of all resumable uploads. @throws StoreUnavailable */
export async function* readResumables(store: ObjectStore): AsyncGenerator<ResumableUpload | UnreadableState> {
  for await (const { id } of listResumables(store)) {
    const found = await tryFindResumable(store, id);
    if (found) yield found;
  }
}

async function writeState(store: ObjectStore, upload: ResumableUpload): Promise<ResumableUpload> {
  const { id, number, state } = upload;
  const bytes = encodeState(state);
  const outcome = await store.putIfAbsent(stateKey(id, number), bytes);
  if (outcome === 'created') return upload;
  // An earlier try of this call may have written the state.
  const found = await readSmallObject(store, stateKey(id, number), maxStateBytes).catch((error) => {
    throw error instanceof ObjectTooLarge ? new StateConflict(error.message, { cause: error }) : error;
  });
  if (found?.equals(bytes)) return upload;
  if (!found && outcome === 'exists')
    throw new StoreUnavailable('state not found although the store reports that it exists');
  throw new StateConflict('another process has continued the upload');
}

function stateKey(id: string, number: number): string {
  return `${resumablePrefixOf(id)}${number}.json`;
}

// The number is -1 for other objects.
function numberOf(id: string, key: string): number {
  const name = key.slice(resumablePrefixOf(id).length);
  return /^(?:0|[1-9]\d{0,8})\.json$/.test(name) ? Number.parseInt(name, 10) : -1;
}

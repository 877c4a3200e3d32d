import { buffer } from 'node:stream/consumers';
import { listObjects, removeObjects } from '@echodrop/object-store/list-objects';
import { isMediaKey, newMediaKey, resumablePrefix, resumablePrefixOf } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { type StagedWrite, stagedWriteShape } from '@echodrop/object-store/staged-write';
import { z } from 'zod';

const time = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

const stateShape = z.object({
  version: z.literal(1),
  expires: time,
  provider: z.string(),
  subject: z.string(),
  application: z.string(),
  message: z.string(),
  alt: z.string().optional(),
  /** `Upload-Metadata` as the client sent it. */
  metadata: z.string(),
  idempotencyKey: z.string().optional(),
  /** Bytes; unknown until the client declares it. */
  length: z.int().nonnegative().optional(),
  mediaKey: z.string(),
  /** The first bytes of the media, up to 16 KiB, in Base64. */
  head: z.string(),
  write: stagedWriteShape,
  /** The id under which the media is published, or may be. */
  mediaId: z.string().optional(),
  isPublished: z.boolean(),
});

/** What is known of a resumable upload, in the object store. */
export type ResumableState = Readonly<Omit<z.infer<typeof stateShape>, 'version'>>;

/** A state with its number. Each further state has the next one. */
export interface ResumableUpload {
  readonly id: string;
  readonly number: number;
  readonly state: ResumableState;
}

/** The longest that an upload may take, from its creation. */
export const maxExpiryMs = 30 * 24 * 3_600_000;

/** A state that this version does not know, or damage. */
export class UnreadableState extends Error {
  override readonly name = 'UnreadableState';
}

/** Another process has saved a state since. */
export class StateConflict extends Error {
  override readonly name = 'StateConflict';
}

// States that replaced the one to be read.
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
    const numbers = await Array.fromAsync(listObjects(store, resumablePrefixOf(id)), ({ key }) => numberOf(id, key));
    const number = Math.max(...numbers);
    if (number < 0) return undefined;
    const last = await readState(store, id, number);
    // Without it, its successor has replaced it since.
    if (last) return last;
  }
  throw new StoreUnavailable('state not found although the store lists it');
}

/** As `findResumable`, but returns UnreadableState. @throws StoreUnavailable */
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
  const reading = await store.read(stateKey(id, number));
  if (!reading) return undefined;
  const bytes = await buffer(reading.body);
  try {
    const { version: _, ...state } = stateShape.parse(JSON.parse(bytes.toString()));
    return { id, number, state };
  } catch (cause) {
    throw new UnreadableState(`The state of the resumable upload ${id} is unreadable.`, { cause });
  }
}

/** Saves the next state, and removes the one before. @throws StateConflict, StoreUnavailable */
export async function saveResumable(
  store: ObjectStore,
  { id, number }: ResumableUpload,
  state: ResumableState,
): Promise<ResumableUpload> {
  const saved = await writeState(store, { id, number: number + 1, state });
  // What remains is removed with the upload.
  await store.remove(stateKey(id, number)).catch(() => {});
  return saved;
}

/** A new key for the tail of a staged write (`AppendOptions.newTailKey`). */
export function newTailKey(id: string): string {
  return `${resumablePrefixOf(id)}tail-${newMediaKey()}`;
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

async function writeState(store: ObjectStore, upload: ResumableUpload): Promise<ResumableUpload> {
  const { id, number, state } = upload;
  const bytes = Buffer.from(JSON.stringify(stateShape.encode({ version: 1, ...state })));
  const outcome = await store.putIfAbsent(stateKey(id, number), bytes);
  if (outcome === 'created') return upload;
  // An earlier try of this call may have written it.
  const reading = await store.read(stateKey(id, number));
  if (reading && (await buffer(reading.body)).equals(bytes)) return upload;
  if (!reading && outcome === 'exists')
    throw new StoreUnavailable('state not found although the store reports that it exists');
  throw new StateConflict('another process has continued the upload');
}

function stateKey(id: string, number: number): string {
  return `${resumablePrefixOf(id)}${number}.json`;
}

// -1 for other objects.
function numberOf(id: string, key: string): number {
  const name = key.slice(resumablePrefixOf(id).length);
  return /^\d{1,9}\.json$/.test(name) ? Number.parseInt(name, 10) : -1;
}

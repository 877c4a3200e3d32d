import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { mediaObjectKey, mediaPrefix, newMediaKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { partBytes } from '@echodrop/object-store/part-size';
import { newStagedWrite, type StagedWrite } from '@echodrop/object-store/staged-write';
import { limitationsOf } from '@echodrop/object-store/store-capabilities';
import { reasonOf } from '@echodrop/service/reason-of';

/** One result: fine, worth knowing, or a reason not to use the store. */
export interface StoreFinding {
  readonly weight: 'ok' | 'note' | 'wrong';
  readonly sentence: string;
}

const bytes = Buffer.from('0123456789');
const unfinishedAgeMs = 60 * 60_000;

type Findings = AsyncIterable<StoreFinding>;

/**
 * Tests what Echodrop needs of a store, with objects of its own, which it removes. Ends at the first step that fails.
 * @throws the reason of `signal`, after it has removed them
 */
export async function* examineStore(store: ObjectStore, signal: AbortSignal): Findings {
  const [key, unfinishedKey] = [mediaObjectKey(newMediaKey()), mediaObjectKey(newMediaKey())];
  // An object can be removed before many are written.
  const steps: [string, () => Findings][] = [
    ['Reaching the bucket or folder', () => reach(store)],
    ['Writing an object', () => write(store, key)],
    ['Reading an object', () => read(store, key)],
    ['Listing objects', () => list(store, key)],
    ['Removing an object', () => remove(store, key)],
    ['Probing the store', () => probe(store, signal)],
    ['Listing incomplete uploads', () => listUnfinished(store, unfinishedKey)],
  ];
  let running = '';
  try {
    for (const [name, run] of steps) {
      running = name;
      signal.throwIfAborted();
      yield* run();
    }
  } catch (error) {
    signal.throwIfAborted();
    yield { weight: 'wrong', sentence: `${running} failed: ${reasonOf(error)}` };
  } finally {
    await store.remove(key).catch(() => {});
  }
}

async function* reach(store: ObjectStore): Findings {
  await store.ready();
  yield ok('The store responds, and the bucket or folder is there, or was made.');
}

async function* write(store: ObjectStore, key: string): Findings {
  // What confirms a new object is not known yet.
  await store.put(key, Readable.from([bytes]), { isReplacement: true });
  yield ok('An object was written.');
}

async function* read(store: ObjectStore, key: string): Findings {
  const reading = await store.read(key);
  const isWhole = reading !== undefined && (await buffer(reading.body)).equals(bytes);
  yield isWhole
    ? ok('An object is returned as it was written.')
    : { weight: 'wrong', sentence: 'The store returns other bytes than it got.' };
}

async function* list(store: ObjectStore, key: string): Findings {
  const before = await store.list(mediaPrefix, { after: key.slice(0, -1), limit: 1 });
  const after = await store.list(mediaPrefix, { after: key, limit: 2 });
  // A list that does not begin after a key, or has another order, is an error of `list`.
  if (before[0]?.key === key && !after.some((object) => object.key === key)) yield ok('Lists begin after a key.');
}

async function* remove(store: ObjectStore, key: string): Findings {
  await store.remove(key);
  yield (await store.stat(key)) === undefined
    ? ok('A removed object is gone.')
    : { weight: 'wrong', sentence: 'An object is still there after its removal.' };
}

async function* probe(store: ObjectStore, signal: AbortSignal): Findings {
  const found = await store.probe({ isThorough: true, signal });
  yield ok('A range of an object is returned, and the clocks of store and machine agree.');
  if (found.checksums !== 'none') yield ok(`Writes are verified by ${verifiedBy[found.checksums]}.`);
  if (found.hasConditionalWrites) yield ok('Of twenty pairs of writers at once, one each created the object.');
  if (found.hasImmediateLists) yield ok('A new object is in lists at once.');
  for (const sentence of [...limitationsOf(found), ...found.notes]) yield { weight: 'note', sentence };
}

function ok(sentence: string): StoreFinding {
  return { weight: 'ok', sentence };
}

const verifiedBy = {
  crc32: 'their CRC-32',
  md5: 'their MD5',
  tag: 'comparing the tags of the store with their MD5s',
};

/** A write that is not complete must be listed with its time: a sweep removes those that are old. */
async function* listUnfinished(store: ObjectStore, key: string): Findings {
  let write = newStagedWrite(key, 'application/octet-stream');
  const save = async (next: StagedWrite) => {
    write = next;
  };
  await store.append(write, Readable.from([Buffer.alloc(partBytes)]), { save, newTailKey: () => `${key}-tail` });
  try {
    const listed = await Array.fromAsync(store.listUnfinishedWrites());
    const own = listed.find(({ id }) => id === write.id);
    const ageMs = Math.abs(Date.now() - (own?.writtenAt.getTime() ?? 0));
    if (own === undefined)
      yield { weight: 'note', sentence: 'Incomplete uploads are not listed: a sweep cannot remove abandoned ones.' };
    else if (ageMs > unfinishedAgeMs)
      yield {
        weight: 'wrong',
        sentence:
          'Incomplete uploads are listed with a wrong time: a sweep would abort forms that are being received, but no resumable upload.',
      };
    else yield ok('Incomplete uploads are listed with their time.');
  } finally {
    await store.discardWrite(write);
  }
}

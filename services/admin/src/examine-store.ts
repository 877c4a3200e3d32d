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
const skewLimitMs = 5 * 60_000;
const unfinishedAgeMs = 60 * 60_000;

/** Tests what Echodrop needs of a store, with objects of its own, which it removes. Ends at the first fault that makes the rest pointless. */
export async function* examineStore(store: ObjectStore): AsyncGenerator<StoreFinding> {
  const keys: string[] = [];
  const newKey = () => {
    const key = mediaObjectKey(newMediaKey());
    keys.push(key);
    return key;
  };
  try {
    await store.ready();
    yield { weight: 'ok', sentence: 'The store responds, and the bucket or folder is there, or was made.' };
    const found = await store.probe({ isThorough: true });
    yield { weight: 'ok', sentence: `Writes are verified by ${verifiedBy[found.checksums]}.` };
    if (found.hasConditionalWrites)
      yield { weight: 'ok', sentence: 'Of twenty pairs of writers at once, one each created the object.' };
    for (const sentence of limitationsOf(found)) yield { weight: 'note', sentence };
    for (const sentence of found.harmless) yield { weight: 'note', sentence };
    const key = newKey();
    await store.put(key, Readable.from([bytes]));
    yield* check('An object is returned as it was written.', 'The store returns other bytes than it got.', async () =>
      (await readRange(store, key)).equals(bytes),
    );
    yield* check('A range of an object is returned.', 'The store returns another range than requested.', async () =>
      (await readRange(store, key, { offset: 3, length: 4 })).equals(bytes.subarray(3, 7)),
    );
    yield* check(
      'A new object is in lists at once.',
      'A new object is missing in lists: uploads would be missing on pages, and sweeps could not be trusted.',
      async () => (await store.list(mediaPrefix, { after: key.slice(0, -1), limit: 1 }))[0]?.key === key,
    );
    yield* examineUnfinished(store, newKey());
    yield* check('A removed object is gone.', 'An object is still there after its removal.', async () => {
      await store.remove(key);
      return (await store.stat(key)) === undefined;
    });
    const skewMs = Math.abs((await store.clock()).getTime() - Date.now());
    yield skewMs < skewLimitMs
      ? { weight: 'ok', sentence: 'The clocks of store and machine agree.' }
      : { weight: 'wrong', sentence: `The clock of the store differs by ${Math.round(skewMs / 1000)} s: correct it.` };
  } catch (error) {
    yield { weight: 'wrong', sentence: `The store cannot be used: ${reasonOf(error)}` };
  } finally {
    await Promise.allSettled(keys.map((key) => store.remove(key)));
  }
}

const verifiedBy = {
  crc32: 'their CRC-32',
  md5: 'their MD5',
  tag: 'comparing the tags of the store with their MD5s',
  none: 'nothing',
};

/** A write that is not complete must be listed with its time: a sweep removes those that are old. */
async function* examineUnfinished(store: ObjectStore, key: string): AsyncGenerator<StoreFinding> {
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
    else yield { weight: 'ok', sentence: 'Incomplete uploads are listed with their time.' };
  } finally {
    await store.discardWrite(write);
  }
}

async function* check(good: string, bad: string, isGood: () => Promise<boolean>): AsyncGenerator<StoreFinding> {
  yield (await isGood()) ? { weight: 'ok', sentence: good } : { weight: 'wrong', sentence: bad };
}

async function readRange(store: ObjectStore, key: string, range?: { offset: number; length: number }): Promise<Buffer> {
  const reading = await store.read(key, { ...(range && { range }) });
  return reading ? buffer(reading.body) : Buffer.alloc(0);
}

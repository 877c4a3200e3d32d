import { Readable } from 'node:stream';
import { findTwice } from '@echodrop/object-store/find-twice';
import { mediaObjectKey, mediaPrefix, newMediaKey, renditionsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { partBytes } from '@echodrop/object-store/part-size';
import { newStagedWrite, type StagedWrite } from '@echodrop/object-store/staged-write';
import { limitationsOf, type StoreCapabilities } from '@echodrop/object-store/store-capabilities';
import { reasonOf } from '@echodrop/service/reason-of';

/** One result: fine, worth knowing, or a reason not to use the store. */
export interface TestResult {
  readonly weight: 'ok' | 'note' | 'wrong';
  readonly sentence: string;
}

type Results = AsyncIterable<TestResult>;

const unfinishedAgeMs = 60 * 60_000;

/**
 * Tests what Echodrop needs of a store, with objects of its own, which it removes. Ends at the first step that fails.
 * @throws the reason of `signal`, after it has removed them
 */
export async function* testStore(store: ObjectStore, signal: AbortSignal): Results {
  const keys = Array.from({ length: 2 }, () => mediaObjectKey(newMediaKey())).sort();
  // Nothing is between them.
  const start = `${renditionsPrefix}${newMediaKey().slice(1)}`;
  const folders = ['0', '1'].map((end) => `${start}${end}/`);
  const inFolders = folders.map((folder) => `${folder}probe`);
  // Objects can be listed and removed before many are written.
  const steps: [string, () => Results][] = [
    ['Reaching the bucket or folder', () => reach(store)],
    ['Writing an object', () => write(store, [...keys, ...inFolders])],
    ['Listing objects', () => list(store, keys)],
    ['Removing an object', () => remove(store, keys)],
    ['Reading an object', () => requireGone(store, keys)],
    ['Probing the store', () => probe(store, signal)],
    ['Listing incomplete uploads', () => listUnfinished(store)],
    ['Listing folders', () => listFolders(store, start, folders)],
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
    await Promise.allSettled([...keys, ...inFolders].map((key) => store.remove(key)));
  }
}

async function* reach(store: ObjectStore): Results {
  await store.ready();
  yield ok('The store responds, and the bucket or folder is there, or was made.');
}

async function* write(store: ObjectStore, keys: readonly string[]): Results {
  // What confirms a new object is not known yet.
  for (const key of keys) await store.put(key, Readable.from([Buffer.from('0123456789')]), { isReplacement: true });
  yield ok('Objects were written.');
}

async function* list(store: ObjectStore, [first = '']: readonly string[]): Results {
  // A list in another order, or that does not begin after a key, is an error of `list`.
  for (const after of [first.slice(0, -1), first]) await store.list(mediaPrefix, { after, limit: 2 });
  yield ok('Lists have the order of their keys, and begin after a key.');
}

/** Folders after `start`, one a page: the second page begins after the first folder with all that is in it. */
async function* listFolders(store: ObjectStore, start: string, folders: readonly string[]): Results {
  const inList = async () => {
    const found = await store.list(renditionsPrefix, { after: start, limit: folders.length });
    return found.every(({ key }, n) => key.startsWith(folders[n] ?? '')) && found.length === folders.length
      ? found
      : undefined;
  };
  // Of lists that are late, the probe has a note.
  if (!(await findTwice(store, inList))) return;
  const found: string[] = [];
  for (const after of [start, ...folders.slice(0, -1)])
    found.push(...(await store.listKeys(renditionsPrefix, { after, limit: 1, folders: true })));
  yield found.join() === folders.join()
    ? ok('Lists name folders instead of the objects in them, and begin after a folder.')
    : {
        weight: 'wrong',
        sentence: 'Lists with a delimiter do not name each folder once: sweeps and pages cannot use them.',
      };
}

async function* remove(store: ObjectStore, [key = '']: readonly string[]): Results {
  await store.remove(key);
  yield ok('An object was removed.');
}

async function* requireGone(store: ObjectStore, [key = '']: readonly string[]): Results {
  yield (await store.stat(key)) === undefined
    ? ok('A removed object is gone.')
    : { weight: 'wrong', sentence: 'An object is still there after its removal.' };
}

async function* probe(store: ObjectStore, signal: AbortSignal): Results {
  const found = await store.probe({ isThorough: true, signal });
  if (found.hasHardLinks === undefined) yield* describeS3(found);
  else if (found.hasHardLinks) yield ok('The folder has hard links, and files can be renamed in it.');
  if (found.hasDirectorySync) yield ok('The names of new and removed files are written to disk.');
  for (const sentence of [...limitationsOf(found), ...found.notes]) yield { weight: 'note', sentence };
}

function* describeS3({ checksums, hasConditionalWrites, hasImmediateLists }: StoreCapabilities): Generator<TestResult> {
  yield ok('An object and a range of it are returned as they were written, and the clocks of store and machine agree.');
  if (checksums !== 'none') yield ok(`Writes are verified by ${verifiedBy[checksums]}.`);
  if (hasConditionalWrites) yield ok('Of twenty pairs of writers at once, one each created the object.');
  if (hasImmediateLists) yield ok('A new object is in lists at once.');
}

function ok(sentence: string): TestResult {
  return { weight: 'ok', sentence };
}

const verifiedBy = {
  crc32: 'their CRC-32',
  md5: 'their MD5',
  tag: 'comparing the tags of the store with their MD5s',
};

/** A write that is not complete must be listed with its time: a sweep removes those that are old. */
async function* listUnfinished(store: ObjectStore): Results {
  const key = mediaObjectKey(newMediaKey());
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

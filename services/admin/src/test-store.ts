import { Readable } from 'node:stream';
import { findTwice } from '@echodrop/object-store/find-twice';
import { mediaObjectKey, mediaPrefix, newMediaKey, renditionsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { partBytes } from '@echodrop/object-store/part-size';
import { newStagedWrite, type StagedWrite } from '@echodrop/object-store/staged-write';
import { limitationsOf, type StoreCapabilities } from '@echodrop/object-store/store-capabilities';
import { reasonOf } from '@echodrop/service/reason-of';
import { type Finding, note, ok, wrong } from './finding.ts';

const unfinishedAgeMs = 60 * 60_000;

/**
 * Tests what Echodrop needs of a store, with objects of its own, which it removes. Ends at the first step that fails.
 * @throws the reason of `signal`, after it has removed them
 */
export async function* testStore(store: ObjectStore, signal: AbortSignal): AsyncGenerator<Finding> {
  const media = Array.from({ length: 2 }, () => mediaObjectKey(newMediaKey())).sort();
  const [first = ''] = media;
  // Nothing is between them.
  const start = `${renditionsPrefix}${newMediaKey().slice(1)}`;
  const folders = ['0', '1'].map((end) => `${start}${end}/`);
  const keys = [...media, ...folders.map((folder) => `${folder}probe`)];
  // Objects can be listed and removed before many are written.
  const steps: [name: string, run: () => Promise<Finding[]>][] = [
    ['Reaching the bucket or folder', () => reach(store)],
    ['Writing an object', () => write(store, keys)],
    ['Listing objects', () => list(store, first)],
    ['Removing an object', () => remove(store, first)],
    ['Reading an object', () => requireGone(store, first)],
    ['Probing the store', async () => describeCapabilities(await store.probe({ isThorough: true, signal }))],
    ['Writing and listing an incomplete upload', () => listUnfinished(store)],
    ['Listing folders', () => listFolders(store, start, folders)],
  ];
  let running = '';
  try {
    for (const [name, run] of steps) {
      running = name;
      signal.throwIfAborted();
      yield* await run();
    }
  } catch (error) {
    signal.throwIfAborted();
    yield wrong(`${running} failed: ${reasonOf(error)}`);
  } finally {
    await Promise.allSettled(keys.map((key) => store.remove(key)));
  }
}

async function reach(store: ObjectStore): Promise<Finding[]> {
  await store.ready();
  return [ok('The store responds, and the bucket or folder is there, or was made.')];
}

async function write(store: ObjectStore, keys: readonly string[]): Promise<Finding[]> {
  // What confirms a new object is not known yet.
  for (const key of keys) await store.put(key, Readable.from([Buffer.from('0123456789')]), { isReplacement: true });
  return [ok('Objects were written.')];
}

async function list(store: ObjectStore, first: string): Promise<Finding[]> {
  // A list in another order, or that does not begin after a key, is an error of `list`.
  for (const after of [first.slice(0, -1), first]) await store.list(mediaPrefix, { after, limit: 2 });
  return [ok('Lists have the order of their keys, and begin after a key.')];
}

async function remove(store: ObjectStore, key: string): Promise<Finding[]> {
  await store.remove(key);
  return [ok('An object was removed.')];
}

async function requireGone(store: ObjectStore, key: string): Promise<Finding[]> {
  const isGone = (await store.stat(key)) === undefined;
  return [isGone ? ok('A removed object is gone.') : wrong('An object is still there after its removal.')];
}

function describeCapabilities(found: StoreCapabilities): Finding[] {
  const { checksums, hasHardLinks, hasDirectorySync, hasConditionalWrites, hasImmediateLists } = found;
  const sentencesOfS3 = [
    'An object and a range of it are returned as they were written, and the clocks of store and machine agree.',
    checksums !== 'none' && `Writes are verified by ${verifiedBy[checksums]}.`,
    hasConditionalWrites && 'Of twenty pairs of writers at once, one each created the object.',
    hasImmediateLists && 'A new object is in lists at once.',
  ];
  const sentences = [
    ...(hasHardLinks === undefined ? sentencesOfS3 : []),
    hasHardLinks && 'The folder has hard links, and files can be renamed in it.',
    hasDirectorySync && 'The names of new and removed files are written to disk.',
  ];
  return [
    ...sentences.flatMap((sentence) => (sentence ? [ok(sentence)] : [])),
    ...[...limitationsOf(found), ...found.notes].map(note),
  ];
}

const verifiedBy = {
  crc32: 'their CRC-32',
  md5: 'their MD5',
  tag: 'comparing the tags of the store with their MD5s',
};

/** A write that is not complete must be listed with its time: a sweep removes those that are old. */
async function listUnfinished(store: ObjectStore): Promise<Finding[]> {
  const key = mediaObjectKey(newMediaKey());
  let write = newStagedWrite(key, 'application/octet-stream');
  const save = async (next: StagedWrite) => {
    write = next;
  };
  await store.append(write, Readable.from([Buffer.alloc(partBytes)]), { save, newTailKey: () => `${key}-tail` });
  try {
    const listed = await Array.fromAsync(store.listUnfinishedWrites());
    const own = listed.find(({ id }) => id === write.id);
    if (!own) return [note('Incomplete uploads are not listed: a sweep cannot remove abandoned ones.')];
    return Math.abs(Date.now() - own.writtenAt.getTime()) > unfinishedAgeMs
      ? [wrong(wrongTime)]
      : [ok('Incomplete uploads are listed with their time.')];
  } finally {
    await store.discardWrite(write);
  }
}

const wrongTime =
  'Incomplete uploads are listed with a wrong time: a sweep would abort forms that are being received, but no resumable upload.';

/** Folders after `start`, one a page: the second page begins after the first folder with all that is in it. */
async function listFolders(store: ObjectStore, start: string, folders: readonly string[]): Promise<Finding[]> {
  const inList = async () => {
    const found = await store.list(renditionsPrefix, { after: start, limit: folders.length });
    return found.every(({ key }, n) => key.startsWith(folders[n] ?? '')) && found.length === folders.length
      ? found
      : undefined;
  };
  // Of lists that are late, the probe has a note.
  if (!(await findTwice(store, inList))) return [];
  const found: string[] = [];
  for (const after of [start, ...folders.slice(0, -1)])
    found.push(...(await store.listKeys(renditionsPrefix, { after, limit: 1, folders: true })));
  return found.join() === folders.join()
    ? [ok('Lists name folders instead of the objects in them, and begin after a folder.')]
    : [wrong('Lists with a delimiter do not name each folder once: sweeps and pages cannot use them.')];
}

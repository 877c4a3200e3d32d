import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describeUnreadable } from '@echodrop/archive/describe-unreadable';
import type { Owner } from '@echodrop/archive/owner';
import { listRecordsOf } from '@echodrop/archive/records';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { type Audit, CommandFailed } from './command-context.ts';
import { readUpload } from './upload-address.ts';

// Only the operator may read exported files, because originals contain locations.
const mode = 0o600;
// Others may plant a file or link in a folder that they can write to.
const flags = 'wx';

/**
 * Writes a user's uploads into a new or empty folder: the originals as `<id>.<type>` and the stored records as `<id>.json`. Reads every record,
 * not the lists. @throws StoreUnavailable; the disk's error; CommandFailed if the folder is not empty, or at the end if an upload failed
 */
export async function* exportUploads(
  store: ObjectStore,
  owner: Owner,
  { folder, audit }: { folder: string; audit: Audit },
): AsyncGenerator<string> {
  await makeEmptyFolder(folder);
  audit({ action: 'export', ...owner });
  let exported = 0;
  let failed = 0;
  try {
    for await (const { id, found } of listRecordsOf(store, owner)) {
      if (!(found instanceof UnreadableRecord) && isTombstone(found)) continue;
      const isUnreadable = found instanceof UnreadableRecord;
      const why = isUnreadable ? describeUnreadable(id, found) : await writeUpload(store, id, found, folder);
      if (why === undefined) exported += 1;
      else {
        failed += 1;
        yield `${id}: ${why}`;
      }
    }
  } catch (error) {
    yield `Not finished: exported ${exported} uploads. Repeat the command with an empty folder.`;
    throw error;
  }
  const hint = exported + failed > 0 ? '' : ' Compare provider and subject with the output of `admin list`.';
  yield `Exported ${exported} uploads.${hint}`;
  if (failed > 0)
    throw new CommandFailed(`Failed to export ${failed} uploads. Unreadable records may be of another user.`);
}

/**
 * Writes one upload into a new or empty folder, in the same form. @throws StoreUnavailable; the disk's error; CommandFailed if the folder is not
 * empty, or the upload does not exist, was deleted or is damaged
 */
export async function* exportUpload(
  store: ObjectStore,
  id: string,
  { folder, audit }: { folder: string; audit: Audit },
): AsyncGenerator<string> {
  const found = await readUpload(store, id);
  if (isTombstone(found)) throw new CommandFailed(`${id}: already deleted`);
  await makeEmptyFolder(folder);
  audit({ action: 'export', mediaId: id, provider: found.provider, subject: found.subject });
  const why = await writeUpload(store, id, found, folder);
  if (why !== undefined) throw new CommandFailed(`${id}: ${why}`);
  yield `${id}: exported`;
}

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new CommandFailed(`Folder ${folder} is not empty.`);
}

/** Writes a record and its media, which gets its name when it is complete. Names come from the record's key. @returns why the media was not written */
async function writeUpload(
  store: ObjectStore,
  id: string,
  record: StoredRecord,
  folder: string,
): Promise<string | undefined> {
  await writeFile(join(folder, `${id}.json`), encodeStoredRecord(record), { mode, flag: flags }).catch(failIfPlanted);
  const reading = await store.read(mediaObjectKey(record.mediaKey), { crc32: record.crc32 });
  if (!reading) return 'media missing from the store';
  if (reading.size !== record.size) {
    reading.body.destroy();
    return `media has ${reading.size} bytes; its record says ${record.size}`;
  }
  const path = join(folder, `${id}.${record.type}`);
  try {
    await pipeline(reading.body, createWriteStream(`${path}.part`, { mode, flags }));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) return failIfPlanted(error);
    // If the store is ready, these bytes are unreadable.
    await store.ready();
    await rm(`${path}.part`, { force: true });
    return `media unreadable (${error.message})`;
  }
  await rename(`${path}.part`, path);
  return undefined;
}

function failIfPlanted(error: unknown): never {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== 'EEXIST') throw error;
  throw new CommandFailed(`Another program created ${path}. Export into a folder that only you can write to.`);
}

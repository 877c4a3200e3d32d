import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { listRecordsOf } from '@echodrop/archive/every-record';
import type { Owner } from '@echodrop/archive/owner';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import type { Audit } from './audit.ts';
import { Failing } from './failing.ts';

// The originals tell where people were.
const mode = 0o600;

/**
 * Writes everything of one user into `folder`, which must be new or empty: of each upload `<id>.<type>`, the file as it was uploaded with
 * all its metadata, and `<id>.json`, the record as it is stored. Every record is looked at, whatever the listings say.
 * @throws StoreUnavailable; the disk's own error; Failing where the folder holds something, or at the end where media is missing or a record
 * cannot be read
 */
export async function* exportUploads(
  store: ObjectStore,
  owner: Owner,
  { folder, audit }: { folder: string; audit: Audit },
): AsyncGenerator<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Failing(`The folder ${folder} is not empty.`);
  audit({ act: 'export', ...owner });
  let written = 0;
  let failed = 0;
  for await (const { id, found } of listRecordsOf(store, owner)) {
    if (found instanceof UnreadableRecord) {
      failed += 1;
      yield `${id}: the record cannot be read`;
    } else if (!isTombstone(found)) {
      const isWritten = await writeUpload(store, found, folder);
      if (isWritten) written += 1;
      else {
        failed += 1;
        yield `${id}: its media is not in the store`;
      }
    }
  }
  yield `${written} uploads were written.${written + failed > 0 ? '' : ' Are provider and subject spelled as list shows them?'}`;
  if (failed > 0) throw new Failing(`${failed} could not be`);
}

// A file has its name when it is whole.
async function writeUpload(store: ObjectStore, record: StoredRecord, folder: string): Promise<boolean> {
  await writeFile(join(folder, `${record.id}.json`), encodeStoredRecord(record), { mode });
  const reading = await store.read(mediaObjectKey(record.mediaKey), { crc32: record.crc32 });
  if (!reading) return false;
  const path = join(folder, `${record.id}.${record.type}`);
  await pipeline(reading.body, createWriteStream(`${path}.part`, { mode }));
  await rename(`${path}.part`, path);
  return true;
}

import { Readable } from 'node:stream';
import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import type { ObjectStore } from '../object-store.ts';
import { newStagedWrite, type StagedWrite } from '../staged-write.ts';

/** Appends pieces to a staged write. @returns its last state */
export async function appendAll(
  store: ObjectStore,
  pieces: readonly Buffer[],
  before = newStagedWrite(mediaObjectKey(newMediaKey()), 'application/octet-stream'),
): Promise<StagedWrite> {
  let write = before;
  const options = {
    newTailKey: () => `resumable/${newMediaKey()}/tail`,
    save: async (next: StagedWrite) => {
      write = next;
    },
  };
  for (const piece of pieces) await store.append(write, Readable.from([piece]), options);
  return write;
}

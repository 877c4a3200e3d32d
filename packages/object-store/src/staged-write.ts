import { z } from 'zod';
import type { SourceOptions } from './consume-source.ts';
import { isObjectKey } from './object-keys.ts';

const objectKey = z.string().refine(isObjectKey);
const crc32 = z.string().regex(/^[0-9a-f]{8}$/);

// S3 has no more parts; part numbers are in a request's query.
const maxParts = 10_000;
// Without what XML or a header would need to escape.
const plainText = z.string().regex(/^[\x21\x23-\x25\x27-\x3b\x3d\x3f-\x7e]{1,2048}$/);

/** A staged write as its owner saves it, in JSON. The owner checks that `key` and the keys of `tails` are its own. */
export const stagedWriteShape = z.object({
  key: objectKey,
  contentType: z.string().regex(/^[\x20-\x7e]{0,255}$/),
  /** Bytes so far, and their CRC-32. */
  size: z.int().nonnegative(),
  crc32,
  /** The store's id of the write (`UnfinishedWrite.id`), once it has bytes. */
  id: plainText.optional(),
  /** On S3: the parts that the multipart upload has, each with its CRC-32 in Base64. */
  parts: z.array(z.object({ etag: plainText, crc32: z.string().regex(/^[\w+/]{6}==$/) })).max(maxParts),
  /** On S3: objects with the bytes after these parts, at most 8 MiB together. `before` is the CRC-32 of all bytes before. */
  tails: z.array(z.object({ key: objectKey, size: z.int().positive(), before: crc32 })).max(maxParts),
});

/** The state of an object that several calls write, in any process. Its owner saves it (`AppendOptions.save`). */
export type StagedWrite = Readonly<z.infer<typeof stagedWriteShape>>;

/** The state before the first byte of the object `key`. */
export function newStagedWrite(key: string, contentType: string): StagedWrite {
  return { key, contentType, size: 0, crc32: '00000000', parts: [], tails: [] };
}

/** `signal` ends the call; bytes received until then are kept. */
export interface AppendOptions extends SourceOptions {
  /** See PutOptions. */
  readonly sender?: string | undefined;
  /** A new key for an object with less than a part. */
  readonly newTailKey: () => string;
  /**
   * Called with each state whose bytes are durable. Bytes after the last saved state do not count: the next call replaces them. If it
   * rejects, the call ends with its error.
   */
  readonly save: (write: StagedWrite) => Promise<void>;
  /** Called at the end of the source. With it, only the last state is saved, and none if it throws or the source fails. */
  readonly verify?: () => void;
}

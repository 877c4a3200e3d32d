import { Checksum } from '../checksum.ts';
import { findTwice } from '../find-twice.ts';
import { ChecksumMismatch, StagedWriteLost } from '../object-store.ts';
import type { StagedWrite } from '../staged-write.ts';
import { fillParts } from './fill-parts.ts';
import type { PartBuffer } from './part-buffer.ts';
import type { S3Bucket } from './s3-bucket.ts';

/** Objects with the bytes of a staged write after its parts. */
export type Tails = StagedWrite['tails'];

/** Fills the last bytes of `write` into the buffer. */
export async function readTails(
  bucket: S3Bucket,
  tails: Tails,
  part: PartBuffer,
  { crc32 }: StagedWrite,
): Promise<void> {
  if (tails.length === 0) return;
  const sendFull = () => Promise.reject(new StagedWriteLost('a tail of this write has grown'));
  let size = 0;
  for (const { key } of tails) {
    // Its owner ends the upload without it.
    const reading = await findTwice(bucket, () => bucket.objects.get(key, {}));
    if (reading === undefined || reading === 'beyond')
      throw new StagedWriteLost('the store no longer has a tail of this write');
    size += await fillParts(reading.body, part, { signal: undefined, sendFull });
  }
  if (size !== sizeOf(tails) || part.checksumOfAll.hex !== crc32)
    throw new ChecksumMismatch('the tails of a write differ from its checksum');
}

export function sizeOf(tails: Tails): number {
  return tails.reduce((sum, { size }) => sum + size, 0);
}

export function tailsOnlyIn({ tails }: StagedWrite, other: StagedWrite): Tails {
  return tails.filter(({ key }) => !other.tails.some((each) => each.key === key));
}

/** Of the bytes before these tails, the last ones of `write`. */
export function checksumBefore({ crc32 }: StagedWrite, tails: Tails): Checksum {
  return new Checksum(tails[0]?.before ?? crc32);
}

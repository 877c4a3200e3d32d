import type { StoreCapabilities } from '../store-capabilities.ts';
import { contentOf } from './object-requests.ts';
import type { StoreResponse } from './signed-requests.ts';
import { checksumHeader, isWrongChecksum, readChecksum, readTag, responseError } from './store-response.ts';
import { isRefusal, md5Of } from './write-rules.ts';

export interface WriteHeaders {
  readonly headers?: Record<string, string>;
  readonly signedHeaders?: Record<string, string>;
}

interface FoundChecksums {
  readonly checksums: StoreCapabilities['checksums'];
  /** Whether the store gives another reason than a checksum when it refuses a wrong one. */
  readonly hasOtherReason: boolean;
}

/**
 * What a store verifies: CRC-32 unless `isMd5Only`, else MD5, else nothing, and whether its tags are MD5s. It must refuse a write of `bytes` with a wrong checksum, and accept it with the
 * right one. @throws StoreUnavailable
 */
export async function findChecksums(
  bytes: Buffer,
  isMd5Only: boolean,
  /** Writes `bytes` to a new object. */
  send: (headers: WriteHeaders) => Promise<StoreResponse>,
): Promise<FoundChecksums> {
  const other = Buffer.concat([bytes, bytes]);
  let hasOtherReason = false;
  /** Whether writes with a header are accepted only if it is right; and the headers of the response to the right one. */
  const verifies = async (headersOf: (of: Buffer) => WriteHeaders) => {
    const right = await send(headersOf(bytes));
    // So something changes the bytes on their way, and the checksum must stay.
    if (isWrongChecksum(right.body)) throw responseError(right.status, right.body);
    if (isRefusal(right.status)) return { isVerified: false, headers: right.headers };
    if (right.status !== 200) throw responseError(right.status, right.body);
    const wrong = await send(headersOf(other));
    hasOtherReason ||= wrong.status >= 400 && !isWrongChecksum(wrong.body);
    return { isVerified: wrong.status >= 400, headers: right.headers };
  };
  const crc32 = (of: Buffer) => contentOf(of).checksum.base64;
  if (!isMd5Only) {
    const { isVerified, headers } = await verifies((of) => ({ signedHeaders: { [checksumHeader]: crc32(of) } }));
    if (isVerified && readChecksum(headers) === crc32(bytes)) return { checksums: 'crc32', hasOtherReason };
  }
  const withMd5 = await verifies((of) => ({ headers: { 'content-md5': md5Of([of]).toString('base64') } }));
  if (withMd5.isVerified) return { checksums: 'md5', hasOtherReason };
  const { status, headers, body } = await send({});
  if (status !== 200) throw responseError(status, body);
  const isMd5 = readTag(headers) === md5Of([bytes]).toString('hex');
  return { checksums: isMd5 ? 'tag' : 'none', hasOtherReason };
}

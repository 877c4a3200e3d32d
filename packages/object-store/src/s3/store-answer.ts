import type { IncomingHttpHeaders } from 'node:http';
import { StoreUnavailable } from '../object-store.ts';

/** S3 compares the checksum with the bytes that have arrived, refuses what differs, and repeats it in its answer. */
export const checksumHeader = 'x-amz-checksum-crc32';

// A tag that is made of MD5s, of one part or of several.
const hashTag = /^[0-9a-f]{32}(-\d+)?$/;

/** The size of the whole object: from `bytes 0-9/1234`, or the length of a whole answer. @throws StoreUnavailable */
export function sizeIn(headers: IncomingHttpHeaders): number {
  const size = /^bytes \d+-\d+\/(\d+)$/.exec(`${headers['content-range']}`)?.[1] ?? headers['content-length'];
  if (size === undefined) throw new StoreUnavailable('the store did not say how large the object is');
  return Number(size);
}

/** The CRC-32 of the whole object, in Base64. */
export function checksumIn(headers: IncomingHttpHeaders): string | undefined {
  const checksum = headers[checksumHeader];
  // That of an object of several parts may be a checksum of their checksums.
  return typeof checksum === 'string' && !checksum.includes('-') ? checksum : undefined;
}

/** The same in eight hexadecimal digits. */
export function checksumHexIn(headers: IncomingHttpHeaders): string | undefined {
  const checksum = checksumIn(headers);
  return checksum && Buffer.from(checksum, 'base64').toString('hex');
}

/** Whether an answer names another tag than `expected`. Tags of encrypted objects are no hashes, and say nothing. */
export function hasOtherTag({ etag }: IncomingHttpHeaders, expected: string): boolean {
  const found = etag?.replaceAll('"', '') ?? '';
  return hashTag.test(found) && hashTag.test(expected) && found !== expected;
}

/** @throws StoreUnavailable */
export function tagIn({ etag }: IncomingHttpHeaders): string {
  if (typeof etag !== 'string') throw new StoreUnavailable('the store gave no ETag');
  return etag.replaceAll('"', '');
}

/** The error for an answer with `status` and the body `xml`. */
export function faultOf(status: number, xml: Uint8Array): StoreUnavailable {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(Buffer.from(xml).toString())?.[1];
  return new StoreUnavailable(`the store answered ${status} ${code ?? ''}`.trim());
}

import type { IncomingHttpHeaders } from 'node:http';
import { StoreUnavailable } from '../object-store.ts';

/** The multipart upload was completed or aborted, or one of its parts was replaced. */
export class PartsLost extends StoreUnavailable {}

/** S3 verifies the bytes against this request header and repeats it in the response. */
export const checksumHeader = 'x-amz-checksum-crc32';

// MD5 of a single part, or of those of several, with their number.
const md5Tag = /^[0-9a-f]{32}(?:-(\d+))?$/;

/** Size of the whole object: from `bytes 0-9/1234`, or the length of a complete response. @throws StoreUnavailable */
export function readSize(headers: IncomingHttpHeaders): number {
  const size = /^bytes \d+-\d+\/(\d+)$/.exec(`${headers['content-range']}`)?.[1] ?? headers['content-length'];
  if (size === undefined) throw new StoreUnavailable('object store response without a size');
  return Number(size);
}

/** CRC-32 of the whole object, in Base64. */
export function readChecksum(headers: IncomingHttpHeaders): string | undefined {
  const checksum = headers[checksumHeader];
  // With a hyphen it is a checksum of part checksums.
  return typeof checksum === 'string' && !checksum.includes('-') ? checksum : undefined;
}

/** CRC-32 of the whole object, in hexadecimal digits. */
export function readChecksumHex(headers: IncomingHttpHeaders): string | undefined {
  const checksum = readChecksum(headers);
  return checksum && Buffer.from(checksum, 'base64').toString('hex');
}

/** Whether the tag differs from `expected`. A tag that is no MD5, such as that of an encrypted object, proves nothing. */
export function hasOtherTag({ etag }: IncomingHttpHeaders, expected: string): boolean {
  const found = etag?.replaceAll('"', '') ?? '';
  return md5Tag.test(found) && found !== expected;
}

/** Whether it is the tag of an object of more or fewer parts. Any other tag proves nothing. */
export function hasOtherPartCount(etag: string, parts: number): boolean {
  const count = md5Tag.exec(etag)?.[1];
  return count !== undefined && Number(count) !== parts;
}

/** Tag and CRC-32, if any, of a completed multipart upload; undefined if `xml` says nothing of it. */
export function readCompletion(xml: Uint8Array): { etag: string; crc32: string | undefined } | undefined {
  const text = Buffer.from(xml).toString();
  const etag = /<ETag>(?:"|&quot;|&#34;)?([\w-]+)/.exec(text)?.[1];
  const crc32 = /<ChecksumCRC32>([\w+/=-]+)</.exec(text)?.[1];
  return etag === undefined ? undefined : { etag, crc32 };
}

/** The id of a new multipart upload; undefined if `xml` has none. */
export function readUploadId(xml: Uint8Array): string | undefined {
  return /<UploadId>([^<&]+)<\/UploadId>/.exec(Buffer.from(xml).toString())?.[1];
}

/** @throws StoreUnavailable */
export function readTag({ etag }: IncomingHttpHeaders): string {
  if (typeof etag !== 'string') throw new StoreUnavailable('object store response without an ETag');
  return etag.replaceAll('"', '');
}

/** The error for a response with `status` and the body `xml`. */
export function responseError(status: number, xml: Uint8Array): StoreUnavailable {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(Buffer.from(xml).toString())?.[1];
  const message = `object store responded with ${status} ${code ?? ''}`.trim();
  const isLost = ['NoSuchUpload', 'InvalidPart', 'InvalidPartOrder'].includes(code ?? '');
  return isLost ? new PartsLost(message) : new StoreUnavailable(message);
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type ByteRange, StoreUnavailable } from '../object-store.ts';
import { readErrorCode } from './response-xml.ts';

/** The store responded with a status that is no success. */
export class StoreRefused extends StoreUnavailable {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Whether a store did not respond, or only that it cannot now, which may follow status 200. It may be another one afterwards. */
export function isOutage(error: unknown): boolean {
  return !(error instanceof StoreRefused) || error.status === 200 || (error.status >= 500 && error.status !== 501);
}

/** The multipart upload was completed or aborted, or one of its parts was replaced. */
export class PartsLost extends StoreRefused {}

/** The store has joined other parts than the request names: one of them was replaced. The object is there. */
export class OtherPartsJoined extends StoreUnavailable {}

/** The response to a write does not repeat its checksum. */
export class ChecksumUnconfirmed extends StoreUnavailable {
  constructor() {
    super('object store did not confirm the checksum');
  }
}

/** Whether a response says that the permissions do not suffice. */
export function isForbidden({ status }: { readonly status: number }): boolean {
  return status === 401 || status === 403;
}

/** S3 verifies the bytes against this request header and repeats it in the response. */
export const checksumHeader = 'x-amz-checksum-crc32';

const maxErrorBytes = 64 * 1024;

// MD5 of a single part, or of those of several, with their number.
const md5Tag = /^[0-9a-f]{32}(?:-(\d+))?$/;

/** Size of the object that a response describes, or has as its body. @throws StoreUnavailable */
export function readSize(headers: IncomingHttpHeaders): number {
  const size = headers['content-length'];
  if (size === undefined) throw new StoreUnavailable('object store response without a size');
  return Number(size);
}

/** Size of the object and length of the body, of a response with a range. @throws StoreUnavailable for another range */
export function readRangeSize(headers: IncomingHttpHeaders, { offset, length }: ByteRange) {
  const [, first, last, size] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(`${headers['content-range']}`) ?? [];
  const end = Math.min(offset + length, Number(size));
  if (Number(first) !== offset || Number(last) !== end - 1)
    throw new StoreUnavailable('object store sent another range than requested');
  return { size: Number(size), length: end - offset };
}

/** CRC-32 of the whole object, in Base64. */
export function readChecksum(headers: IncomingHttpHeaders): string | undefined {
  const checksum = headers[checksumHeader];
  // With a hyphen it is a checksum of part checksums.
  return typeof checksum === 'string' && !checksum.includes('-') ? checksum : undefined;
}

/** CRC-32 of the whole object, in hexadecimal digits. Of joined parts, some stores have that of the parts' checksums, without saying so. */
export function readChecksumHex(headers: IncomingHttpHeaders): string | undefined {
  const checksum = partCountOf(headers.etag) === undefined ? readChecksum(headers) : undefined;
  return checksum && Buffer.from(checksum, 'base64').toString('hex');
}

/** Whether the tag of a response differs from `expected`. */
export function hasOtherTag({ etag }: IncomingHttpHeaders, expected: string): boolean {
  return isOtherTag(etag?.replaceAll('"', '') ?? '', expected);
}

/** Whether a tag differs from `expected`. A tag that does not look like an MD5 proves nothing. */
export function isOtherTag(found: string, expected: string): boolean {
  return md5Tag.test(found) && found !== expected;
}

/** How many parts the object had, if its tag shows that. */
export function partCountOf(etag = ''): number | undefined {
  const count = md5Tag.exec(etag.replaceAll('"', ''))?.[1];
  return count === undefined ? undefined : Number(count);
}

/** @throws StoreUnavailable */
export function readTag({ etag }: IncomingHttpHeaders): string {
  if (typeof etag !== 'string') throw new StoreUnavailable('object store response without an ETag');
  return etag.replaceAll('"', '');
}

/** The first bytes of the body of an error, up to 64 KiB. An error of S3 has less than 1 KiB. */
export async function readErrorBody(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // The end of the loop closes the connection.
    if (size >= maxErrorBytes) break;
  }
  return Buffer.concat(chunks);
}

/** Whether the body of an error says that the bytes do not have their checksum. */
export function isWrongChecksum(xml: Buffer): boolean {
  return /^(BadDigest|InvalidDigest|InvalidChecksum|\w*ChecksumMismatch)$/.test(readErrorCode(xml) ?? '');
}

/** What an operator checks, by the code of an error (Amazon S3 API Reference, "Error Responses"). */
const remedies: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'check S3_ACCESS_KEY',
  SignatureDoesNotMatch: 'check S3_SECRET_KEY, or a proxy that changes Host',
  AccessDenied: 'check S3_BUCKET, and the permissions of S3_ACCESS_KEY',
  AuthorizationHeaderMalformed: 'check S3_REGION',
  PermanentRedirect: 'check S3_ENDPOINT and S3_REGION',
  TemporaryRedirect: 'check S3_ENDPOINT and S3_REGION',
  RequestTimeTooSkewed: 'correct the clock of this machine',
};

/** The error for a response with `status` and the body `xml`. */
export function responseError(status: number, xml: Buffer): StoreRefused {
  const code = readErrorCode(xml);
  const known = code !== undefined && Object.hasOwn(remedies, code) ? remedies[code] : undefined;
  const found = known ?? (status > 300 && status < 400 ? 'check S3_ENDPOINT' : undefined);
  const remedy = found === undefined ? '' : `: ${found}`;
  const message = `object store responded with ${status} ${code ?? ''}`.trim() + remedy;
  const isLost = ['NoSuchUpload', 'InvalidPart', 'InvalidPartOrder'].includes(code ?? '');
  return isLost ? new PartsLost(message, status) : new StoreRefused(message, status);
}

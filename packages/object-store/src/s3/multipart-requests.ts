import { hash } from 'node:crypto';
import { Checksum } from '../checksum.ts';
import type { Content, ObjectRequests } from './object-requests.ts';
import { readCompletion, readUploadId } from './response-xml.ts';
import type { SignedRequests } from './signed-requests.ts';
import { isOtherTag, OtherPartsJoined, partCountOf, responseError } from './store-response.ts';
import type { WriteRules } from './write-rules.ts';

/** A part of a multipart upload: its tag, and its CRC-32 in Base64. */
export interface WrittenPart {
  readonly etag: string;
  readonly crc32: string;
}

/** Multipart uploads. @throws StoreUnavailable */
export class MultipartRequests {
  readonly #requests: SignedRequests;
  readonly #objects: ObjectRequests;
  readonly #rules: WriteRules;

  constructor(requests: SignedRequests, objects: ObjectRequests, rules: WriteRules) {
    this.#requests = requests;
    this.#objects = objects;
    this.#rules = rules;
  }

  /** Begins a multipart upload. @returns its id */
  async create(key: string, contentType: string): Promise<string> {
    const send = () => {
      const request = {
        query: { uploads: '' },
        headers: { 'content-type': contentType },
        // AWS refuses checksums of parts unless they are announced here.
        ...(this.#rules.hasCrc32 && { signedHeaders: { 'x-amz-checksum-algorithm': 'CRC32' } }),
        body: '',
      };
      return this.#requests.send('POST', key, request);
    };
    const response = await this.#rules.sendAccepted(send);
    const uploadId = readUploadId(response.body);
    if (response.status !== 200 || uploadId === undefined) throw responseError(response.status, response.body);
    return uploadId;
  }

  /** Writes the part with this number, from 1 on. */
  async putPart(key: string, uploadId: string, number: number, content: Content): Promise<WrittenPart> {
    const query = { uploadId, partNumber: `${number}` };
    return { etag: await this.#objects.put(key, content, { query }), crc32: content.checksum.base64 };
  }

  /**
   * Joins the parts, in order, into one object. `crc32` is that of all bytes, in Base64: some stores respond with it, others with one of
   * the checksums of the parts.
   * @returns the object's tag
   * @throws StoreUnavailable; OtherPartsJoined if the response describes an object of other parts
   */
  async complete(key: string, uploadId: string, parts: readonly WrittenPart[], crc32: string): Promise<string> {
    const send = () => {
      const body = completionXml(parts, this.#rules.hasCrc32);
      const request = { query: { uploadId }, headers: { 'content-type': 'application/xml' }, body };
      return this.#requests.send('POST', key, request);
    };
    const response = await this.#rules.sendAccepted(send);
    const joined = readCompletion(response.body);
    // S3 may send status 200 before it knows the result.
    if (response.status !== 200 || joined === undefined) throw responseError(response.status, response.body);
    const partsChecksum = checksumOfParts(parts);
    const known = [undefined, `${partsChecksum}-${parts.length}`, partsChecksum, crc32];
    const expected = this.tagOf(parts.map(({ etag }) => etag));
    const hasOtherTag = expected !== undefined && isOtherTag(joined.etag, expected);
    const count = partCountOf(joined.etag) ?? parts.length;
    if (count !== parts.length || hasOtherTag || !known.includes(joined.crc32))
      throw new OtherPartsJoined('object store assembled the wrong parts');
    return joined.etag;
  }

  /** The tag of the object of parts with these tags; undefined if the store's tags do not show that. */
  tagOf(etags: readonly string[]): string | undefined {
    return this.#rules.capabilities.hasMd5Tags ? joinedTag(etags) : undefined;
  }
}

/** What S3 calls a composite checksum, without the number of parts. */
function checksumOfParts(parts: readonly WrittenPart[]): string {
  const checksum = new Checksum();
  for (const { crc32 } of parts) checksum.add(Buffer.from(crc32, 'base64'));
  return checksum.base64;
}

/** The tag that AWS gives an object of parts with these tags, if they are MD5s. */
export function joinedTag(etags: readonly string[]): string {
  return `${hash('md5', Buffer.from(etags.join(''), 'hex'))}-${etags.length}`;
}

function completionXml(parts: readonly WrittenPart[], hasCrc32: boolean): string {
  const elements = parts.map(({ etag, crc32 }, index) => {
    const checksum = hasCrc32 ? `<ChecksumCRC32>${crc32}</ChecksumCRC32>` : '';
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag>${checksum}</Part>`;
  });
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${elements.join('')}</CompleteMultipartUpload>`;
}

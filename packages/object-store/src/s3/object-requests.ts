import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Checksum } from '../checksum.ts';
import { type ByteRange, type ObjectReading, type PutIfAbsentOutcome, StoreUnavailable } from '../object-store.ts';
import { storeBody } from '../store-body.ts';
import type { StoreDeadlines } from './deadlines.ts';
import type { SignedRequests, StoreResponse } from './signed-requests.ts';
import {
  checksumHeader,
  hasOtherTag,
  readChecksum,
  readChecksumHex,
  readErrorBody,
  readRangeSize,
  readSize,
  readTag,
  responseError,
} from './store-response.ts';

export interface Content {
  readonly size: number;
  readonly checksum: Checksum;
  bytes(): Iterable<Buffer>;
}

type OpenedObject = Omit<ObjectReading, 'key'>;

interface GetOptions {
  /** With at least one byte: a Range header cannot name an empty range. */
  readonly range?: ByteRange | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly crc32?: string | undefined;
}

/** There is no such object. */
export class NotStored extends StoreUnavailable {}

/** Requests for bytes or metadata of objects, each with a deadline. @throws StoreUnavailable */
export class ObjectRequests {
  readonly #requests: SignedRequests;
  readonly #deadlines: StoreDeadlines;
  #supportsChecksums: boolean;

  /** `requiresChecksums`: whether responses must confirm checksums until `supportsChecksums` finds that the store has none. */
  constructor(requests: SignedRequests, deadlines: StoreDeadlines, requiresChecksums: boolean) {
    this.#requests = requests;
    this.#deadlines = deadlines;
    this.#supportsChecksums = requiresChecksums;
  }

  /** Writes an object, or the part of one that `query` names. @returns its tag */
  async put(key: string, content: Content, { query = {}, contentType = '' } = {}): Promise<string> {
    const headers = contentType ? { 'content-type': contentType } : {};
    const response = await this.#put(key, content, headers, query);
    if (response.status !== 200) throw responseError(response.status, response.body);
    this.#requireChecksum(response.headers, content.checksum);
    return readTag(response.headers);
  }

  async putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    const { status, headers } = await this.#putIfAbsent(key, bytes);
    if (status === 200) return 'created';
    return hasOtherTag(headers, hash('md5', bytes)) ? 'differs' : 'exists';
  }

  /**
   * Proves that an object exists, with permission to write alone: a conditional write of nothing must conflict. MinIO reports the
   * tag of the existing object, which must be `etag`; AWS does not.
   * @throws NotStored if the object is missing. The caller then removes the empty object that may exist.
   */
  async requireStored(key: string, etag: string): Promise<void> {
    const { status, headers, isRepeated } = await this.#putIfAbsent(key, Buffer.alloc(0));
    // A repeated request may conflict with its own first try, so only the tag proves the object.
    const isOther = isRepeated ? readTag(headers) !== etag : hasOtherTag(headers, etag);
    if (status === 200 || isOther) throw new NotStored('object missing after a confirmed write');
  }

  /**
   * Opens an object or a range of it. A whole object must have the CRC-32 `crc32`, or else the one that the store has recorded.
   * @returns undefined if the object does not exist, `beyond` if the range begins after its end
   * @throws the reason of `signal`, which also ends the body
   */
  async get(key: string, { range, signal, crc32 }: GetOptions): Promise<OpenedObject | 'beyond' | undefined> {
    const request = range
      ? { headers: { range: `bytes=${range.offset}-${range.offset + range.length - 1}` } }
      : { signedHeaders: { 'x-amz-checksum-mode': 'ENABLED' } };
    return this.#requests.get(key, request, signal, async ({ statusCode, headers, body }) => {
      if (statusCode === (range ? 206 : 200)) {
        const { size, ...expected } = range ? readRangeSize(headers, range) : readWholeSize(headers, crc32);
        return { size, etag: readTag(headers), body: storeBody(body, signal, expected) };
      }
      const error = responseError(statusCode, await readErrorBody(body));
      if (statusCode === 416) return 'beyond';
      if (statusCode === 404 && !error.message.includes('NoSuchBucket')) return undefined;
      throw error;
    });
  }

  /** Undefined if the object does not exist. */
  async head(key: string): Promise<Omit<OpenedObject, 'body'> | undefined> {
    const { status, headers, body } = await this.#requests.send('HEAD', key, {}, this.#deadlines.callMs);
    if (status === 404) return undefined;
    if (status !== 200) throw responseError(status, body);
    return { size: readSize(headers), etag: readTag(headers) };
  }

  /**
   * Sends one byte with a wrong checksum to find out whether the store refuses it. If it does, it must confirm each checksum from
   * then on. If not, an object at `key` remains.
   */
  async supportsChecksums(key: string): Promise<boolean> {
    const content = { size: 1, checksum: new Checksum(), bytes: () => [Buffer.from('x')] };
    const { status, body } = await this.#put(key, content);
    if (status !== 200) {
      const error = responseError(status, body);
      if (!/Digest|Checksum/.test(error.message)) throw error;
    }
    this.#supportsChecksums = status !== 200;
    return this.#supportsChecksums;
  }

  /** The store's time, from the Date header of any response. */
  async clock(): Promise<Date> {
    const { status, headers, body } = await this.#requests.send('GET', 'clock', {}, this.#deadlines.callMs);
    const now = new Date(String(headers['date']));
    if (Number.isNaN(now.getTime())) throw responseError(status, body);
    return now;
  }

  #put(key: string, content: Content, headers = {}, query = {}): Promise<StoreResponse> {
    const blocks = [...content.bytes()];
    // A single block goes out with the head, in one write.
    const [body] = blocks.length === 1 ? blocks : [blocks];
    const request = {
      query,
      headers: { ...headers, 'content-length': `${content.size}` },
      signedHeaders: { [checksumHeader]: content.checksum.base64 },
      body: content.size === 0 || body === undefined ? '' : body,
    };
    return this.#requests.send('PUT', key, request, this.#deadlines.writeMs);
  }

  /** @returns the response: status 200 for a created object, or 412 with headers that describe the existing one */
  async #putIfAbsent(key: string, bytes: Buffer): Promise<StoreResponse> {
    const checksum = new Checksum();
    checksum.add(bytes);
    const content = { size: bytes.length, checksum, bytes: () => [bytes] };
    const response = await this.#put(key, content, { 'if-none-match': '*' });
    if (response.status === 412) return response;
    if (response.status !== 200) throw responseError(response.status, response.body);
    this.#requireChecksum(response.headers, checksum);
    return response;
  }

  #requireChecksum(headers: IncomingHttpHeaders, checksum: Checksum): void {
    const confirmed = readChecksum(headers);
    if (confirmed === checksum.base64) return;
    if (confirmed === undefined && !this.#supportsChecksums) return;
    throw new StoreUnavailable('object store did not confirm the checksum');
  }
}

function readWholeSize(headers: IncomingHttpHeaders, crc32: string | undefined) {
  const size = readSize(headers);
  return { size, length: size, crc32: crc32 ?? readChecksumHex(headers) };
}

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type Answer, exchange } from '@echodrop/service/exchange';
import { type Dispatcher, Pool } from 'undici';
import { Checksum } from '../checksum.ts';
import { Deadline } from '../deadline.ts';
import { type PutIfAbsentOutcome, StoreUnavailable } from '../object-store.ts';
import { storeBody, storeFault } from '../store-body.ts';
import { type S3Credentials, S3Signer } from './sign-s3.ts';
import { checksumHeader, checksumHexIn, checksumIn, faultOf, hasOtherTag, sizeIn, tagIn } from './store-answer.ts';
import type { StoreDeadlines } from './store-deadlines.ts';

/** `size` bytes, in order, and their checksum. */
export interface Bytes {
  readonly size: number;
  readonly checksum: Checksum;
  bytes(): Iterable<Buffer>;
}

/** An object, or a part of it, on its way here; `size` is that of the whole object. */
export interface Incoming {
  readonly size: number;
  readonly etag: string;
  readonly body: Readable;
}

const maxSockets = 1024;

/** A part of a multipart upload: its tag, and its CRC-32 in Base64. */
export interface WrittenPart {
  readonly etag: string;
  readonly crc32: string;
}

interface Reading {
  readonly range?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly crc32?: string | undefined;
}

interface Sending {
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  /** The deadline, where it is not that of a part. */
  readonly ms?: number;
}

/**
 * The requests that carry an object's bytes: minio's client would hash what it sends, or buffer it. Each is sent once, and ends
 * within its deadline.
 * @throws StoreUnavailable from every call
 */
export class SignedRequests implements AsyncDisposable {
  readonly #signer: S3Signer;
  readonly #bucket: string;
  readonly #deadlines: StoreDeadlines;
  readonly #pool: Pool;
  #supportsChecksums: boolean | undefined;

  constructor(endpoint: string, bucket: string, credentials: Omit<S3Credentials, 'host'>, deadlines: StoreDeadlines) {
    const { origin, host } = new URL(endpoint);
    this.#signer = new S3Signer({ ...credentials, host });
    this.#bucket = bucket;
    this.#deadlines = deadlines;
    // Deadlines are ours: undici's begin only when a socket is free.
    this.#pool = new Pool(origin, {
      connections: maxSockets,
      connect: { timeout: deadlines.callMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Writes a whole object, or the part of one that `query` names. @returns its tag */
  async put(key: string, content: Bytes, { query = {}, contentType = '' } = {}): Promise<string> {
    const answer = await this.#send(key, content, {
      query,
      headers: contentType ? { 'content-type': contentType } : {},
    });
    if (answer.status !== 200) throw faultOf(answer.status, answer.body);
    this.#requireChecksum(answer.headers, content.checksum);
    return tagIn(answer.headers);
  }

  async putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    const found = await this.#putIfAbsent(key, bytes);
    if (found === 'created') return 'created';
    return hasOtherTag(found, hash('md5', bytes)) ? 'differs' : 'exists';
  }

  /**
   * Proves that an object exists, with the right to write alone: a conditional write of nothing must find it. MinIO names what it found by its
   * tag, which must be `etag`; AWS does not.
   * @throws StoreUnavailable, also if it does not exist. Then the caller removes the empty object that may be there.
   */
  async requireStored(key: string, etag: string): Promise<void> {
    const found = await this.#putIfAbsent(key, Buffer.alloc(0));
    if (found === 'created' || hasOtherTag(found, etag))
      throw new StoreUnavailable('the store has not kept what it confirmed');
  }

  /** Makes one object of the parts, in order. @returns its tag */
  async completeUpload(key: string, uploadId: string, parts: readonly WrittenPart[]): Promise<string> {
    const request = this.#signed('POST', key, { uploadId }, { 'content-type': 'application/xml' });
    const answer = await this.#exchange({ ...request, body: completion(parts) }, this.#deadlines.partMs);
    // S3 may begin a 200 before it knows how the joining ends.
    const etag = /<ETag>(?:"|&quot;|&#34;)?([\w-]+)/.exec(answer.body.toString())?.[1];
    if (answer.status !== 200 || etag === undefined) throw faultOf(answer.status, answer.body);
    return etag;
  }

  /**
   * Opens an object, or the bytes of it that the Range header `range` names. A whole one must have the CRC-32 `crc32`, or the one that the store has of it.
   * @returns undefined when there is no such object, `beyond` when it has none of these bytes
   * @throws the reason of `signal`, which also ends the body
   */
  async get(key: string, { range, signal, crc32 }: Reading): Promise<Incoming | 'beyond' | undefined> {
    using late = new Deadline(this.#deadlines.callMs);
    try {
      const isWhole = range === undefined;
      const { statusCode, headers, body } = await this.#pool.request({
        ...this.#signed('GET', key, {}, isWhole ? {} : { range }, isWhole ? { 'x-amz-checksum-mode': 'ENABLED' } : {}),
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
        bodyTimeout: this.#deadlines.idleMs,
      });
      if (statusCode === (isWhole ? 200 : 206)) {
        const checksum = isWhole ? (crc32 ?? checksumHexIn(headers)) : undefined;
        return { size: sizeIn(headers), etag: tagIn(headers), body: storeBody(body, signal, checksum) };
      }
      const fault = faultOf(statusCode, await body.bytes());
      if (statusCode === 416) return 'beyond';
      if (statusCode === 404 && !fault.message.includes('NoSuchBucket')) return undefined;
      throw fault;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw storeFault(error);
    }
  }

  /** Size and tag of an object; undefined when there is none. */
  async head(key: string): Promise<Omit<Incoming, 'body'> | undefined> {
    const { status, headers, body } = await this.#exchange(this.#signed('HEAD', key), this.#deadlines.callMs);
    if (status === 404) return undefined;
    if (status !== 200) throw faultOf(status, body);
    return { size: sizeIn(headers), etag: tagIn(headers) };
  }

  /**
   * Whether the store refuses bytes that differ from their checksum; asked with one byte that does. From then on a store that does must confirm
   * each checksum. One that does not has an object at `key` then.
   */
  async supportsChecksums(key: string): Promise<boolean> {
    const one = Buffer.from('x');
    const answer = await this.#send(key, { size: one.length, checksum: new Checksum(), bytes: () => [one] }, {});
    const fault = faultOf(answer.status, answer.body);
    if (answer.status !== 200 && !/Digest|Checksum/.test(fault.message)) throw fault;
    this.#supportsChecksums = answer.status !== 200;
    return this.#supportsChecksums;
  }

  /** What the store's clock says, which every answer tells. */
  async clock(): Promise<Date> {
    const { status, headers, body } = await this.#exchange(this.#signed('GET', 'clock'), this.#deadlines.callMs);
    const now = new Date(String(headers['date']));
    if (status >= 500 || Number.isNaN(now.getTime())) throw faultOf(status, body);
    return now;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }

  #send(key: string, content: Bytes, { query, headers = {}, ms = this.#deadlines.partMs }: Sending) {
    const blocks = [...content.bytes()];
    // One block goes out with the head, in one write.
    const body = blocks.length === 1 ? blocks[0] : (blocks as unknown as Readable);
    const sent = { ...headers, 'content-length': `${content.size}` };
    const request = this.#signed('PUT', key, query, sent, { [checksumHeader]: content.checksum.base64 });
    return this.#exchange({ ...request, body: content.size === 0 ? '' : body }, ms);
  }

  /** @returns what the store says of the object that is there, or `created` */
  async #putIfAbsent(key: string, bytes: Buffer): Promise<'created' | IncomingHttpHeaders> {
    const checksum = new Checksum();
    checksum.add(bytes);
    const content = { size: bytes.length, checksum, bytes: () => [bytes] };
    const headers = { 'if-none-match': '*' };
    const answer = await this.#send(key, content, { headers, ms: this.#deadlines.callMs });
    if (answer.status === 412) return answer.headers;
    if (answer.status !== 200) throw faultOf(answer.status, answer.body);
    this.#requireChecksum(answer.headers, checksum);
    return 'created';
  }

  #requireChecksum(headers: IncomingHttpHeaders, checksum: Checksum): void {
    const confirmed = checksumIn(headers);
    if (confirmed === checksum.base64) return;
    if (confirmed === undefined && this.#supportsChecksums !== true) return;
    throw new StoreUnavailable('the store does not confirm the checksum of what was sent');
  }

  async #exchange(request: Dispatcher.DispatchOptions, ms: number): Promise<Answer> {
    try {
      return await exchange(this.#pool, request, ms);
    } catch (error) {
      throw storeFault(error);
    }
  }

  // Keys need no encoding (object-keys.ts).
  #signed(
    method: 'GET' | 'HEAD' | 'POST' | 'PUT',
    key: string,
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
    amz: Record<string, string> = {},
  ) {
    const path = `/${this.#bucket}/${key}`;
    const names = Object.keys(query).sort();
    const search = names.map((name) => `${name}=${encoded(query[name] ?? '')}`).join('&');
    const signed = this.#signer.sign(method, path, search, amz);
    return { method, path: search === '' ? path : `${path}?${search}`, headers: { ...signed, ...headers } } as const;
  }
}

function completion(parts: readonly WrittenPart[]): string {
  const named = parts.map(
    ({ etag, crc32 }, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag><ChecksumCRC32>${crc32}</ChecksumCRC32></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${named.join('')}</CompleteMultipartUpload>`;
}

// RFC 3986, as AWS wants it: encodeURIComponent leaves more characters as they are.
function encoded(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

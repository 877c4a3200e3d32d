import type { IncomingHttpHeaders } from 'node:http';
import { Checksum } from '../checksum.ts';
import type { ByteRange, ObjectReading } from '../object-store.ts';
import { storeBody } from '../store-body.ts';
import type { SignedRequests, StoreResponse } from './signed-requests.ts';
import { readChecksumHex, readErrorBody, readRangeSize, readSize, readTag, responseError } from './store-response.ts';
import { isRefusal, type WriteRules } from './write-rules.ts';

export interface Content {
  readonly size: number;
  readonly checksum: Checksum;
  bytes(): Iterable<Buffer>;
}

/** The content of a write that fits into one buffer. */
export function contentOf(bytes: Buffer): Content {
  const checksum = new Checksum();
  checksum.add(bytes);
  return { size: bytes.length, checksum, bytes: () => [bytes] };
}

type OpenedObject = Omit<ObjectReading, 'key'>;
type Opened = OpenedObject | 'beyond' | undefined;

interface GetOptions {
  /** A range of at least one byte: a Range header cannot name an empty range. */
  readonly range?: ByteRange | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly crc32?: string | undefined;
}

/** Requests for bytes or metadata of objects, each with a deadline. @throws StoreUnavailable */
export class ObjectRequests {
  readonly #requests: SignedRequests;
  readonly #rules: WriteRules;
  #readsChecksums = true;

  constructor(requests: SignedRequests, rules: WriteRules) {
    this.#requests = requests;
    this.#rules = rules;
  }

  /** Writes an object, or the part of one that `query` names. @returns its tag */
  async put(key: string, content: Content, { query = {}, contentType = '' } = {}): Promise<string> {
    const headers: Record<string, string> = contentType ? { 'content-type': contentType } : {};
    const response = await this.write(key, content, headers, query);
    if (response.status !== 200) throw responseError(response.status, response.body);
    return readTag(response.headers);
  }

  /** Sends a write with its checksum (`WriteRules.sendAccepted`), which a response of status 200 must confirm. */
  async write(key: string, content: Content, headers: Record<string, string>, query = {}): Promise<StoreResponse> {
    const bytes = { blocks: [...content.bytes()], crc32: content.checksum.base64 };
    // A single block goes out with the head, in one write.
    const [body] = bytes.blocks.length === 1 ? bytes.blocks : [bytes.blocks];
    const send = () => {
      const [checksumHeaders, signedHeaders] = this.#rules.checksumHeaders(bytes);
      const request = {
        query,
        headers: { ...headers, ...checksumHeaders, 'content-length': `${content.size}` },
        signedHeaders,
        body: content.size === 0 || body === undefined ? '' : body,
      };
      return this.#requests.send('PUT', key, request);
    };
    const response = await this.#rules.sendAccepted(send);
    if (response.status === 200) this.#rules.requireConfirmed(response.headers, bytes);
    return response;
  }

  /**
   * Opens an object or a range of it. A whole object must have the CRC-32 `crc32`, or else the one that the store has recorded.
   * @returns undefined if the object does not exist, `beyond` if the range begins after its end
   * @throws the reason of `signal`, which also ends the body
   */
  async get(key: string, options: GetOptions): Promise<Opened> {
    const opened = await this.#open(key, options, this.#readsChecksums && !options.range);
    if (opened !== 'refused') return opened;
    const without = await this.#open(key, options, false);
    // Backblaze B2 refuses this header.
    this.#readsChecksums = false;
    return without as Opened;
  }

  /** Size and tag of an object; undefined if it does not exist. */
  async head(key: string): Promise<Omit<OpenedObject, 'body'> | undefined> {
    const { status, headers, body } = await this.#requests.send('HEAD', key, {});
    if (status === 404) return undefined;
    if (status !== 200) throw responseError(status, body);
    return { size: readSize(headers), etag: readTag(headers) };
  }

  /** The store's time, from the Date header of any response. */
  async clock(): Promise<Date> {
    const { status, headers, body } = await this.#requests.send('GET', 'clock', {});
    const now = new Date(String(headers['date']));
    if (Number.isNaN(now.getTime())) throw responseError(status, body);
    return now;
  }

  async #open(key: string, { range, signal, crc32 }: GetOptions, wantsChecksum: boolean): Promise<Opened | 'refused'> {
    const request = {
      ...(range && { headers: { range: `bytes=${range.offset}-${range.offset + range.length - 1}` } }),
      ...(wantsChecksum && { signedHeaders: { 'x-amz-checksum-mode': 'ENABLED' } }),
    };
    return this.#requests.get<Opened | 'refused'>(key, request, signal, async ({ statusCode, headers, body }) => {
      if (statusCode === (range ? 206 : 200)) {
        const { size, ...expected } = range ? readRangeSize(headers, range) : readWholeSize(headers, crc32);
        return { size, etag: readTag(headers), body: storeBody(body, signal, expected) };
      }
      const error = responseError(statusCode, await readErrorBody(body));
      if (wantsChecksum && isRefusal(statusCode)) return 'refused';
      return resultOf(statusCode, error);
    });
  }
}

/** @throws the error if the response says more than that there are no such bytes */
function resultOf(status: number, error: Error): 'beyond' | undefined {
  if (status === 416) return 'beyond';
  if (status === 404 && !error.message.includes('NoSuchBucket')) return undefined;
  throw error;
}

function readWholeSize(headers: IncomingHttpHeaders, crc32: string | undefined) {
  const size = readSize(headers);
  return { size, length: size, crc32: crc32 ?? readChecksumHex(headers) };
}

import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { Deadline } from './deadline.ts';
import { StoreUnavailable } from './object-store.ts';
import { storeBody, storeFault } from './store-body.ts';
import type { StoreDeadlines } from './store-deadlines.ts';

/** `size` bytes, in order. */
export interface Bytes {
  readonly size: number;
  bytes(): Iterable<Buffer>;
}

/** The presigned address of one request for the object `key`. */
export type Sign = (method: 'GET' | 'PUT', key: string, query: Record<string, string>) => Promise<string>;

/** An object, or a part of it, on its way here; `size` is that of the whole object. */
export interface Incoming {
  readonly size: number;
  readonly etag: string;
  readonly body: Readable;
}

const maxSockets = 1024;

interface Sending {
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  /** The deadline, where it is not that of a part. */
  readonly ms?: number;
}

/**
 * The requests that carry an object's bytes, over presigned addresses: minio's client would hash what it sends, or buffer
 * it. Each is sent once, and ends within its deadline.
 * @throws StoreUnavailable from every call
 */
export class SignedRequests implements AsyncDisposable {
  readonly #sign: Sign;
  readonly #deadlines: StoreDeadlines;
  readonly #agent: Agent;

  constructor(sign: Sign, deadlines: StoreDeadlines) {
    this.#sign = sign;
    this.#deadlines = deadlines;
    this.#agent = new Agent({ connections: maxSockets, connect: { timeout: deadlines.callMs } });
  }

  /** Writes a whole object, or the part of one that `query` names. @returns its tag */
  async put(key: string, content: Bytes, { query = {}, contentType = '' } = {}): Promise<string> {
    const answer = await this.#send(key, content, {
      query,
      headers: contentType ? { 'content-type': contentType } : {},
    });
    if (answer.status !== 200) throw answer.fault;
    return answer.etag;
  }

  async putIfAbsent(key: string, content: Bytes): Promise<'created' | 'exists'> {
    const answer = await this.#send(key, content, { headers: { 'if-none-match': '*' }, ms: this.#deadlines.callMs });
    if (answer.status === 412) return 'exists';
    if (answer.status !== 200) throw answer.fault;
    return 'created';
  }

  /**
   * Opens an object, or the bytes of it that the Range header `range` names.
   * @returns undefined when there is no such object, `beyond` when it has none of these bytes
   * @throws the reason of `signal`, which also ends the body
   */
  async get(key: string, range?: string, signal?: AbortSignal): Promise<Incoming | 'beyond' | undefined> {
    using late = new Deadline(this.#deadlines.callMs);
    try {
      const { statusCode, headers, body } = await request(await this.#sign('GET', key, {}), {
        dispatcher: this.#agent,
        headers: range === undefined ? {} : { range },
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
        headersTimeout: 0,
        bodyTimeout: this.#deadlines.idleMs,
      });
      if (statusCode === (range === undefined ? 200 : 206)) {
        return { size: wholeSize(headers), etag: tagOf(headers), body: storeBody(body, signal) };
      }
      const fault = faultOf(statusCode, await body.text());
      if (statusCode === 416) return 'beyond';
      if (statusCode === 404 && !fault.message.includes('NoSuchBucket')) return undefined;
      throw fault;
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw storeFault(error);
    }
  }

  /** What the store's clock says, which every answer tells. */
  async clock(): Promise<Date> {
    using late = new Deadline(this.#deadlines.callMs);
    try {
      const { statusCode, headers, body } = await request(await this.#sign('GET', 'clock', {}), {
        dispatcher: this.#agent,
        signal: late.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const fault = faultOf(statusCode, await body.text());
      const now = new Date(String(headers['date']));
      if (statusCode >= 500 || Number.isNaN(now.getTime())) throw fault;
      return now;
    } catch (error) {
      throw storeFault(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }

  async #send(key: string, content: Bytes, { query = {}, headers = {}, ms = this.#deadlines.partMs }: Sending) {
    using late = new Deadline(ms);
    try {
      const answer = await request(await this.#sign('PUT', key, query), {
        dispatcher: this.#agent,
        method: 'PUT',
        headers: { ...headers, 'content-length': `${content.size}` },
        body: content.size === 0 ? '' : Readable.from(content.bytes()),
        signal: late.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const { statusCode: status, headers: answered } = answer;
      const fault = faultOf(status, await answer.body.text());
      return { status, fault, etag: status === 200 ? tagOf(answered) : '' };
    } catch (error) {
      throw storeFault(error);
    }
  }
}

type Headers = Record<string, string | string[] | undefined>;

/** From `bytes 0-9/1234` or the length of an answer that is whole. */
function wholeSize(headers: Headers): number {
  const size = /^bytes \d+-\d+\/(\d+)$/.exec(`${headers['content-range']}`)?.[1] ?? headers['content-length'];
  if (size === undefined) throw new StoreUnavailable('the store did not say how large the object is');
  return Number(size);
}

function tagOf({ etag }: Headers): string {
  if (typeof etag !== 'string') throw new StoreUnavailable('the store gave no ETag');
  return etag.replaceAll('"', '');
}

function faultOf(status: number, xml: string): StoreUnavailable {
  return new StoreUnavailable(`the store answered ${status} ${/<Code>(\w{1,64})<\/Code>/.exec(xml)?.[1] ?? ''}`.trim());
}

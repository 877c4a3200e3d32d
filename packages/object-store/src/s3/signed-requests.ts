import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange, type HttpResponse } from '@echodrop/service/exchange';
import { rememberedLookup } from '@echodrop/service/remembered-lookup';
import type { Dispatcher } from 'undici';
import { toStoreUnavailable } from '../store-body.ts';
import type { StoreDeadlines } from './deadlines.ts';
import { readCompletion, readErrorCode, readUploadId } from './response-xml.ts';
import { type S3Credentials, S3Signer } from './sign-s3.ts';
import { readErrorBody, responseError } from './store-response.ts';
import { YoungConnections } from './young-connections.ts';

const maxSockets = 1024;
/** The largest response to any call but a read. A page of 1000 keys of Echodrop has 0.4 MiB, and the parser takes 32 bytes for each byte of text. */
const maxResponseBytes = 2 * 1024 * 1024;
/** The pause before the second try. Each further pause is twice as long. */
const firstPauseMs = 250;

/** Codes of errors after which S3 wants a request to be repeated. */
const temporaryCodes = ['InternalError', 'SlowDown', 'ServiceUnavailable', 'RequestTimeout', 'OperationAborted'];

interface SignedRequest {
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  /** Further headers with an `x-amz-` name, which S3 requires to be signed. */
  readonly signedHeaders?: Record<string, string>;
  readonly body?: string | Buffer | readonly Buffer[];
}

type Method = 'DELETE' | 'GET' | 'HEAD' | 'POST' | 'PUT';

export interface StoreResponse extends HttpResponse {
  /** Whether an earlier try had an unknown outcome. */
  readonly isRepeated: boolean;
  /** Statuses of the responses to earlier tries. */
  readonly earlier: readonly number[];
}

/**
 * Sends signed requests. Repeats one until its deadline if its connection breaks, the store responds that it should be repeated, or it does not
 * respond within half of the time: a store of several nodes does all three for seconds after it lost one. @throws StoreUnavailable
 */
export class SignedRequests implements AsyncDisposable {
  readonly #signer: S3Signer;
  readonly #bucket: string;
  readonly #deadlines: StoreDeadlines;
  readonly #connections: YoungConnections;

  constructor(endpoint: string, bucket: string, credentials: Omit<S3Credentials, 'host'>, deadlines: StoreDeadlines) {
    const { origin, host } = new URL(endpoint);
    this.#signer = new S3Signer({ ...credentials, host });
    this.#bucket = bucket;
    this.#deadlines = deadlines;
    // Undici's timeouts start when a socket is free; the deadlines here include the wait for one.
    this.#connections = new YoungConnections(origin, deadlines.connectionMs, {
      connections: maxSockets,
      connect: { timeout: deadlines.callMs, lookup: rememberedLookup },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Sends a request and reads the whole response, within the deadline over all tries. No response requests a repeat. */
  async send(method: Method, key: string, request: SignedRequest): Promise<StoreResponse> {
    const ms = this.#deadlineOf(method, key, request);
    const earlier: number[] = [];
    let tries = 0;
    try {
      return await this.#withRepeats(ms, async (tryMs) => {
        tries += 1;
        const signed = this.#sign(method, key, request);
        const response = await exchange(this.#connections.dispatcher, signed, {
          deadlineMs: tryMs,
          maxBytes: maxResponseBytes,
        });
        // Of a bucket, a conflict says that the bucket exists.
        const isConflict = response.status === 409 && key !== '';
        if (!isConflict && !isTemporary(response.status) && !isTimeout(response) && !isUnfinished(method, response)) {
          const refused = earlier.filter(isWithoutEffect).length;
          return { ...response, isRepeated: tries - 1 > refused, earlier };
        }
        earlier.push(response.status);
        throw responseError(response.status, response.body);
      });
    } catch (error) {
      throw toStoreUnavailable(error);
    }
  }

  /** Sends a GET and passes the response to `read`, both within the deadline. @throws the reason of `signal`, too */
  async get<T>(
    key: string,
    request: SignedRequest,
    signal: AbortSignal | undefined,
    read: (response: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<T> {
    const { callMs, idleMs } = this.#deadlines;
    // Until the whole response is read or its body has a reader.
    const timers: NodeJS.Timeout[] = [];
    const tryOnce = async (tryMs: number) => {
      const late = new AbortController();
      timers.push(setTimeout(() => late.abort(new Error(`no response within ${Math.round(tryMs)} ms`)), tryMs));
      const ended = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
      const signed = this.#sign('GET', key, request);
      const response = await this.#connections.dispatcher.request({ ...signed, signal: ended, bodyTimeout: idleMs });
      const { statusCode: status, body } = response;
      if (isTemporary(status)) throw responseError(status, await readErrorBody(body));
      return response;
    };
    let body: Readable | undefined;
    try {
      const response = await this.#withRepeats(callMs, tryOnce, signal);
      body = response.body;
      return await read(response);
    } catch (error) {
      body?.on('error', () => {}).destroy();
      if (signal?.aborted) throw signal.reason;
      throw toStoreUnavailable(error);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  #deadlineOf(method: Method, key: string, { query }: SignedRequest): number {
    const { callMs, writeMs, joinMs } = this.#deadlines;
    const isWrite = key !== '' && (method === 'PUT' || method === 'POST');
    if (!isWrite) return callMs;
    return method === 'POST' && query?.['uploadId'] !== undefined ? joinMs : writeMs;
  }

  /** Repeats `attempt`, which takes at most `tryMs`, if it throws and `ms` leave time for a pause. @throws the last error */
  async #withRepeats<T>(ms: number, attempt: (tryMs: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const end = performance.now() + ms;
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      try {
        const tryMs = Math.min(Math.max(ms / 2, this.#deadlines.tryMs), end - performance.now());
        return await attempt(tryMs);
      } catch (error) {
        if (signal?.aborted || performance.now() + pauseMs >= end) throw error;
        await sleep(pauseMs, undefined, { signal });
        // The process may have been suspended in the pause.
        if (performance.now() >= end) throw error;
      }
    }
  }

  // Without a key, a request for the bucket. Of all keys, only those of other applications need an encoding (object-keys.ts).
  #sign(method: Method, key: string, { query = {}, headers, signedHeaders, body }: SignedRequest) {
    const path = key === '' ? `/${this.#bucket}` : `/${this.#bucket}/${encodePath(key)}`;
    const names = Object.keys(query).sort();
    const search = names.map((name) => `${name}=${encode(query[name] ?? '')}`).join('&');
    const signed = this.#signer.sign(method, path, search, signedHeaders);
    return {
      method,
      path: search === '' ? path : `${path}?${search}`,
      headers: { ...signed, ...headers },
      // Undici takes any iterable; its types know only streams.
      ...(body !== undefined && { body: body as string | Buffer | Readable }),
    };
  }
}

/** Statuses that say that the request had no effect. */
function isWithoutEffect(status: number): boolean {
  return status === 409 || status === 429;
}

// AWS waits for the rest of a request for some seconds.
function isTimeout({ status, body }: HttpResponse): boolean {
  return status === 408 || (status === 400 && readErrorCode(body) === 'RequestTimeout');
}

/**
 * S3 sends status 200 while it joins parts, and the result after it: which may be an error, or be cut off (Amazon S3 API Reference,
 * "CompleteMultipartUpload").
 */
function isUnfinished(method: Method, { status, body }: HttpResponse): boolean {
  if (method !== 'POST' || status !== 200) return false;
  const code = readErrorCode(body);
  if (code !== undefined) return temporaryCodes.includes(code);
  return readUploadId(body) === undefined && readCompletion(body) === undefined;
}

// A MinIO that stops cancels its requests, with 499. 501 is final: the store cannot do this.
function isTemporary(status: number): boolean {
  return status === 429 || (status >= 499 && status !== 501);
}

// RFC 3986, as AWS requires; encodeURIComponent leaves more characters as they are.
function encode(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function encodePath(key: string): string {
  return key.replace(/[^\w.~/-]+/g, encode);
}

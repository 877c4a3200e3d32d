import type { MediaRecord, RecordPage } from '@echodrop/record';
import { isUndone, noteDoubt, RequestRefused, UnreadableResponse } from './client-errors.ts';
import { echoHeaders, type Proof, secretFields } from './credentials.ts';
import { exchange } from './exchange.ts';
import { idempotencyHeader, newIdempotencyKey } from './idempotency-key.ts';
import type { Platform, Progress } from './platform/platform.ts';
import { maxBodyBytes } from './read-body.ts';
import { type Format, readPage, readRecord, readRefusal } from './read-response.ts';
import {
  requireComplete,
  requireId,
  requireListOptions,
  requireRequestOptions,
  requireUploadOptions,
} from './require-complete.ts';
import { type OnRetry, withRetries } from './retry.ts';

export interface ClientOptions extends Proof {
  /** The address of the upload service, without `/1/` and `/2/`. */
  readonly service: string | URL;
  /** Names the application; uploads need it. */
  readonly apiKey?: string | undefined;
  /** Used for every request instead of the platform's. */
  readonly fetch?: typeof fetch | undefined;
  /** Attempts after the first, for failures that may be temporary. Default: 4. */
  readonly retries?: number | undefined;
  /** An attempt to upload fails, and is retried, after this long without progress. Default: 120000. */
  readonly stallMs?: number | undefined;
}

export interface RequestOptions {
  /** Default: a timeout of six hours for an upload, of two minutes for other requests. */
  readonly signal?: AbortSignal | undefined;
}

export interface UploadOptions extends RequestOptions {
  /** The public caption. Default: empty. */
  readonly message?: string | undefined;
  /** Alternative text: what a photo or video shows, for people who cannot see it. */
  readonly alt?: string | undefined;
  readonly filename?: string | undefined;
  /** Version 2 (default) sends a signature or a bearer token, version 1 the four OAuth secrets. */
  readonly version?: 1 | 2 | undefined;
  /** The format of the response. Default: `json`. */
  readonly format?: Format | undefined;
  readonly onProgress?: Progress | undefined;
  readonly onRetry?: OnRetry | undefined;
  /** Uploads of the same media with one key become one record, for 24 hours. Default: a new key, which all attempts share. */
  readonly idempotencyKey?: string | undefined;
}

export interface ListOptions extends RequestOptions {
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
  /** 1 to 100. Default: 20. */
  readonly count?: number | undefined;
}

const defaultRetries = 4;
const defaultStallMs = 120_000;
const largestPage = 100;
// 100 captions of 64 KiB, which JSON can escape to six times as much.
const maxPageBytes = 40 * 2 ** 20;
const maxUploadMs = 6 * 3600 * 1000;
const maxRequestMs = 120_000;

/**
 * A client of one upload service, for one user. Every attempt of a request is signed again. Methods reject with RequestRefused,
 * UnreadableResponse, ServiceUnreachable, or the signal's reason.
 */
export class UploadClient<Source> {
  readonly #options: ClientOptions;
  readonly #service: string;
  readonly #platform: Platform<Source>;

  /** @throws TypeError for an option that is missing or invalid */
  constructor(options: ClientOptions, platform: Platform<Source>) {
    requireComplete(options);
    this.#options = options;
    this.#service = String(options.service).replace(/\/+$/, '');
    this.#platform = platform;
  }

  /**
   * Uploads media and returns its record. A stream cannot be read twice, so its upload is not retried.
   * @throws also TypeError for invalid options, the source's error if it cannot be read, or the error of `onProgress`
   */
  async upload(source: Source, options: UploadOptions = {}): Promise<MediaRecord> {
    requireUploadOptions(options);
    const { version = 2, format = 'json', onRetry } = options;
    const key = options.idempotencyKey ?? newIdempotencyKey();
    const idempotencyKey = idempotencyHeader(key);
    const fields = this.#fieldsOf(version, options);
    const { signal, onProgress } = endedByProgress(options);
    const media = await this.#platform.open(source, options.filename, signal);
    const { fetch, stallMs = defaultStallMs } = this.#options;
    let mayBePublished = false;
    const attempt = async () => {
      const headers = { ...(version === 2 && echoHeaders(this.#options)), 'Idempotency-Key': idempotencyKey };
      const request = { headers, fields, media, signal, onProgress, fetch, stallMs };
      const address = `${this.#service}/${version}/upload.${format}`;
      try {
        const { response, body } = await exchange(signal, maxBodyBytes, () => this.#platform.post(address, request));
        if (response.status !== 200) throw await readRefusal(format, body, response);
        return await readRecord(format, body);
      } catch (error) {
        mayBePublished = noteDoubt(error, key, mayBePublished);
        throw error;
      }
    };
    const retries = media.content instanceof Blob ? this.#retries : 0;
    return withRetries(attempt, { retries, signal, onRetry });
  }

  /** Lists the user's uploads, newest first. `next` is absent on the last page. */
  async list(options: ListOptions = {}): Promise<RecordPage> {
    requireListOptions(options);
    const { after, count, signal = AbortSignal.timeout(maxRequestMs) } = options;
    const query = String(
      new URLSearchParams({
        ...(after !== undefined && { after }),
        ...(count !== undefined && { count: String(count) }),
      }),
    );
    const path = `/2/media.json${query && `?${query}`}`;
    return withRetries(async () => readPage(await this.#request('GET', path, signal)), {
      retries: this.#retries,
      signal,
    });
  }

  /** Finds one of the user's uploads; undefined if no page of `list` has it. The service has no query by id, so this reads the pages. */
  async get(id: string, options: RequestOptions = {}): Promise<MediaRecord | undefined> {
    requireId(id);
    requireRequestOptions(options);
    const { signal = AbortSignal.timeout(maxRequestMs) } = options;
    const seen = new Set<string | undefined>();
    let after: string | undefined;
    do {
      if (seen.has(after)) throw new UnreadableResponse('The pages of the list repeat.');
      seen.add(after);
      const { records, next } = await this.list({ signal, after, count: largestPage });
      const found = records.find((record) => record.id === id);
      if (found) return found;
      after = next;
    } while (after !== undefined);
    return undefined;
  }

  /** Removes one of the user's uploads, which cannot be undone. */
  async remove(id: string, options: RequestOptions = {}): Promise<void> {
    requireId(id);
    requireRequestOptions(options);
    const { signal = AbortSignal.timeout(maxRequestMs) } = options;
    let isLost = false;
    const attempt = async () => {
      try {
        await this.#request('DELETE', `/2/media/${encodeURIComponent(id)}`, signal);
      } catch (error) {
        // An attempt without a response, or one that failed halfway, has removed it.
        if (isLost && error instanceof RequestRefused && error.reason === 'not_found') return;
        isLost ||= !isUndone(error);
        throw error;
      }
    };
    await withRetries(attempt, { retries: this.#retries, signal });
  }

  get #retries(): number {
    return this.#options.retries ?? defaultRetries;
  }

  async #request(method: string, path: string, signal: AbortSignal): Promise<string> {
    const send = this.#options.fetch ?? fetch;
    const { response, body } = await exchange(signal, maxPageBytes, () =>
      send(this.#service + path, { method, headers: echoHeaders(this.#options), redirect: 'error', signal }),
    );
    if (!response.ok) throw await readRefusal('json', body, response);
    return body;
  }

  #fieldsOf(version: 1 | 2, { message = '', alt }: UploadOptions): Record<string, string> {
    const { apiKey, credentials } = this.#options;
    if (!apiKey) throw new TypeError('Uploads need an API key. Pass `apiKey` to the client.');
    return {
      key: apiKey,
      message,
      ...(alt !== undefined && { alt }),
      ...(version === 1 && secretFields(credentials)),
    };
  }
}

/** A signal that also aborts if `onProgress` throws, with its error. */
function endedByProgress({ signal = AbortSignal.timeout(maxUploadMs), onProgress }: UploadOptions) {
  if (!onProgress) return { signal, onProgress };
  const failure = new AbortController();
  const report: Progress = (sent, total) => {
    try {
      onProgress(sent, total);
    } catch (error) {
      failure.abort(error);
    }
  };
  return { signal: AbortSignal.any([signal, failure.signal]), onProgress: report };
}

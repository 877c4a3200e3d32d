import type { MediaRecord, RecordPage } from '@echodrop/record';
import { RequestRefused } from './client-errors.ts';
import { echoHeaders, type Proof, secretFields } from './credentials.ts';
import { exchange } from './exchange.ts';
import type { Platform, Progress } from './platform/platform.ts';
import { type Format, readPage, readRecord, readRefusal } from './read-response.ts';
import { optionShapes, requireId, requireOptions } from './require-complete.ts';
import { type OnRetry, withRetries } from './retry.ts';
import { serviceAddress } from './service-address.ts';
import { newIdempotencyKey } from './upload/idempotency-key.ts';
import { uploadMedia } from './upload/upload-media.ts';

export interface ClientOptions extends Proof {
  /** The address of the upload service, such as https://upload.example. The path of an endpoint at its end, such as `/2/upload.json`, is ignored. */
  readonly service: string | URL;
  /** The API key, which names the application. Uploads need it. */
  readonly apiKey?: string | undefined;
  /** A `fetch` for every request, instead of the platform's. */
  readonly fetch?: typeof fetch | undefined;
  /** The number of attempts after the first, for failures that may be temporary. Default: 4. */
  readonly retries?: number | undefined;
  /** An attempt to upload fails, and is retried, after this long without progress. Default: 120000. */
  readonly stallMs?: number | undefined;
}

export interface RequestOptions {
  /** Default: a timeout of two minutes. An upload has none, but each of its requests ends after six hours, or `stallMs` without progress. */
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
  /** The id of an unfinished upload of the same media and texts, from `onResumable`. It continues, or begins again if it has expired. */
  readonly resumeId?: string | undefined;
  /** Called with the id of each resumable upload that is created: of large media, and after a broken connection. */
  readonly onResumable?: ((id: string) => void | Promise<void>) | undefined;
}

export interface ListOptions extends RequestOptions {
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
  /** The most uploads of a page, from 1 to 100. Default: 20. */
  readonly count?: number | undefined;
}

const defaultRetries = 4;
const defaultStallMs = 120_000;
// 100 captions of 64 KiB, which JSON can escape to six times as much.
const maxPageBytes = 40 * 2 ** 20;
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
    requireOptions(optionShapes.client, options);
    this.#options = options;
    this.#service = serviceAddress(options.service);
    this.#platform = platform;
  }

  /**
   * Uploads media and returns its record. A stream cannot be read twice, so its upload is not retried.
   * @throws also TypeError for invalid options, or the source's error if it cannot be read
   */
  async upload(source: Source, options: UploadOptions = {}): Promise<MediaRecord> {
    requireOptions(optionShapes.upload, options);
    const { version = 2, idempotencyKey = newIdempotencyKey() } = options;
    const fields = this.#fieldsOf(version, options);
    const { signal = new AbortController().signal, onProgress } = options;
    const media = await this.#platform.open(source, options.filename, signal);
    const { fetch, retries = defaultRetries, stallMs = defaultStallMs } = this.#options;
    return uploadMedia({
      format: 'json',
      ...options,
      version,
      idempotencyKey,
      fields,
      media,
      signal,
      onProgress,
      fetch,
      stallMs,
      service: this.#service,
      send: this.#platform.send,
      proof: async () => (version === 2 ? echoHeaders(this.#options) : {}),
      retries,
    });
  }

  /** Lists the user's uploads, newest first. `next` is absent on the last page. */
  async list(options: ListOptions = {}): Promise<RecordPage> {
    requireOptions(optionShapes.list, options);
    const { after, count } = options;
    const query = new URLSearchParams({
      ...(after !== undefined && { after }),
      ...(count !== undefined && { count: String(count) }),
    });
    const path = `/2/media.json${String(query) && `?${query}`}`;
    return this.#retry(options, async (request) => readPage(await request('GET', path)));
  }

  /** Finds one of the user's uploads; undefined if the user has no upload with this id. */
  async get(id: string, options: RequestOptions = {}): Promise<MediaRecord | undefined> {
    requireId(id);
    requireOptions(optionShapes.request, options);
    const path = `/2/media/${encodeURIComponent(id)}.json`;
    return this.#retry(options, async (request) => {
      try {
        return await readRecord('json', await request('GET', path));
      } catch (error) {
        if (error instanceof RequestRefused && ['not_found', 'not_yours', 'removed'].includes(error.reason))
          return undefined;
        throw error;
      }
    });
  }

  /** Removes one of the user's uploads, which cannot be undone. */
  async remove(id: string, options: RequestOptions = {}): Promise<void> {
    requireId(id);
    requireOptions(optionShapes.request, options);
    let isRepeated = false;
    await this.#retry(options, async (request) => {
      try {
        await request('DELETE', `/2/media/${encodeURIComponent(id)}`);
      } catch (error) {
        // An earlier attempt, whose response was lost or reported a failure, may have removed it.
        if (isRepeated && error instanceof RequestRefused && error.reason === 'not_found') return;
        isRepeated = true;
        throw error;
      }
    });
  }

  /** Calls `attempt` with a function that sends a request and returns the body of its response. */
  #retry<T>(
    { signal = AbortSignal.timeout(maxRequestMs) }: RequestOptions,
    attempt: (request: (method: string, path: string) => Promise<string>) => Promise<T>,
  ): Promise<T> {
    const { fetch: send = fetch, retries = defaultRetries } = this.#options;
    const request = async (method: string, path: string) => {
      const { response, body } = await exchange(signal, maxPageBytes, async () =>
        send(this.#service + path, { method, headers: await echoHeaders(this.#options), redirect: 'error', signal }),
      );
      if (!response.ok) throw await readRefusal('json', body, response);
      return body;
    };
    return withRetries(() => attempt(request), { retries, signal });
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

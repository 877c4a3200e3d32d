import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import type { StoreUnavailable } from '../object-store.ts';
import { ConditionalWrites, NotStored, type UnconfirmedObject } from './conditional-writes.ts';
import { MultipartRequests, type WrittenPart } from './multipart-requests.ts';
import { contentOf, ObjectRequests } from './object-requests.ts';
import type { SignedRequests, StoreResponse } from './signed-requests.ts';
import { OtherPartsJoined, StoreRefused } from './store-response.ts';
import { WriteRules } from './write-rules.ts';

/** The content of the objects of a probe. */
export const probeBytes = Buffer.from('A probe of this store.');

export interface ProbeObject extends UnconfirmedObject {
  readonly key: string;
}

/** The objects and multipart uploads of one probe, and what it has found. Disposing removes them. */
export class ProbeObjects implements AsyncDisposable {
  readonly rules = new WriteRules(true);
  /** Notes on the store (`StoreCapabilities`). */
  readonly notes = new Set<string>();
  /** Whether the key may read media. */
  canRead = true;
  readonly #requests: SignedRequests;
  readonly #objects: ObjectRequests;
  readonly #multipart: MultipartRequests;
  readonly #keys: string[] = [];
  /** The multipart uploads of the probe: keys and ids. */
  readonly #uploads: [string, string][] = [];
  readonly #signal: AbortSignal | undefined;

  /** `signal` lets `newKey` throw its reason. */
  constructor(requests: SignedRequests, signal?: AbortSignal) {
    this.#signal = signal;
    this.#requests = requests;
    this.#objects = new ObjectRequests(requests, this.rules);
    this.#multipart = new MultipartRequests(requests, this.#objects, this.rules);
  }

  newKey(): string {
    this.#signal?.throwIfAborted();
    const key = mediaObjectKey(newMediaKey());
    this.#keys.push(key);
    return key;
  }

  async put(bytes = probeBytes, key = this.newKey()): Promise<ProbeObject> {
    const etag = await this.#objects.put(key, contentOf(bytes));
    return { key, etag, size: bytes.length, parts: 1 };
  }

  /** Whether the store proves these objects as those of uploads are proved. Where it does not, it may have replaced them by nothing. */
  async areProved(objects: readonly ProbeObject[]): Promise<boolean> {
    const conditional = new ConditionalWrites(this.#objects, this.rules);
    try {
      for (const { key, ...written } of objects) await conditional.requireStored(key, written);
      return true;
    } catch (error) {
      if (error instanceof NotStored || error instanceof StoreRefused) return false;
      throw error;
    }
  }

  async putUnlessExists(key: string): Promise<StoreResponse> {
    return this.#objects.write(key, contentOf(probeBytes), { 'if-none-match': '*' });
  }

  /** Writes a new object, with nothing but these headers. */
  async putWith(headers: { headers?: Record<string, string>; signedHeaders?: Record<string, string> }) {
    return this.#requests.send('PUT', this.newKey(), { ...headers, body: probeBytes });
  }

  /** A request for an object or, without a key, for the bucket. */
  async get(key: string, request: { query?: Record<string, string>; headers?: Record<string, string> } = {}) {
    return this.#requests.send('GET', key, request);
  }

  /** The tag of an object, undefined if it does not exist, `unknown` without permission to read. */
  async tagOf(key: string): Promise<string | undefined> {
    const found = await this.#objects.head(key).catch((error: unknown) => {
      if (!(error instanceof StoreRefused)) throw error;
      this.canRead = false;
      return { etag: 'unknown' };
    });
    return found?.etag;
  }

  async beginParts() {
    const key = this.newKey();
    const uploadId = await this.#multipart.create(key, 'application/octet-stream');
    this.#uploads.push([key, uploadId]);
    const put = (part: Buffer, number = 1) => this.#multipart.putPart(key, uploadId, number, contentOf(part));
    const complete = (parts: readonly WrittenPart[], all: Buffer) =>
      this.#multipart.complete(key, uploadId, parts, contentOf(all).checksum.base64);
    /** Why the store does not complete the upload, or completes it otherwise; undefined if it does. */
    const refusalOf = async (parts: readonly WrittenPart[], all: Buffer): Promise<StoreUnavailable | undefined> => {
      try {
        await complete(parts, all);
        return undefined;
      } catch (error) {
        if (error instanceof StoreRefused || error instanceof OtherPartsJoined) return error;
        throw error;
      }
    };
    return { key, put, complete, refusalOf };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const remove = (key: string, query = {}) => this.#requests.send('DELETE', key, { query });
    await Promise.allSettled(this.#uploads.map(([key, uploadId]) => remove(key, { uploadId })));
    await Promise.allSettled(this.#keys.map((key) => remove(key)));
  }
}

import http from 'node:http';
import https from 'node:https';
import type { Secret } from '@echodrop/service/secret';
import { type BucketItem, Client } from 'minio';
import { type ListedObject, StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';
import { storeFault } from '../store-body.ts';
import { SignedRequests } from './signed-requests.ts';
import type { StoreDeadlines } from './store-deadlines.ts';
import { transportWithDeadline } from './transport-with-deadline.ts';

/** One bucket of an S3 store; `endpoint` is an http(s) address without a path. */
export interface S3Address {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: Secret;
  readonly secretKey: Secret;
}

const maxSockets = 128;
const idleSocketMs = 4000;
const mostEmptyPages = 100;

/**
 * The S3 calls that the store is made of. Each is exactly one request (a list where the store gives short pages: one for each), within its deadline, and never tried again here.
 * @throws StoreUnavailable from every call
 */
export class MinioBucket implements AsyncDisposable {
  /** The calls that carry bytes. */
  readonly data: SignedRequests;
  readonly #bucket: string;
  readonly #region: string;
  readonly #agent: http.Agent;
  readonly #client: Client;

  constructor({ endpoint, region, bucket, accessKey, secretKey }: S3Address, deadlines: StoreDeadlines) {
    const { protocol, hostname, port } = new URL(endpoint);
    const CallAgent = protocol === 'https:' ? https.Agent : http.Agent;
    this.#bucket = bucket;
    this.#region = region;
    this.#agent = new CallAgent({ keepAlive: true, maxSockets, timeout: idleSocketMs });
    this.#client = new Client({
      endPoint: hostname,
      ...(port !== '' && { port: Number(port) }),
      useSSL: protocol === 'https:',
      region,
      accessKey: accessKey.reveal(),
      secretKey: secretKey.reveal(),
      transport: transportWithDeadline(protocol, deadlines),
      transportAgent: this.#agent,
      retryOptions: { disableRetry: true },
    });
    this.data = new SignedRequests(endpoint, bucket, { region, accessKey, secretKey }, deadlines);
  }

  /** Makes the bucket where it is missing; another process may be doing the same. */
  async ensure(): Promise<void> {
    if (await answered(this.#client.bucketExists(this.#bucket))) return;
    const made = this.#client.makeBucket(this.#bucket, this.#region);
    await answered(made, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists');
  }

  /**
   * Up to `limit`, at most a thousand. A store may give fewer at once than it is asked for, or none, and say that there are more (S3 API,
   * ListObjectsV2). Behind what it gave the list goes on by key, and behind nothing by the store's token: minio's
   * client reads a token that looks like a number as one, and would hand on another.
   */
  async list(prefix: string, after: string, limit: number): Promise<ListedObject[]> {
    const found: ListedObject[] = [];
    for (let [more, token, empty] = [true, '', 0]; more && found.length < limit; ) {
      const last = found.at(-1)?.key ?? after;
      const asked = this.#client.listObjectsV2Query(this.#bucket, prefix, token, '', limit - found.length, last);
      const { objects, isTruncated, nextContinuationToken } = await answered(asked);
      found.push(...objects.map(listed));
      more = isTruncated;
      [token, empty] = objects.length > 0 ? ['', 0] : [nextContinuationToken, empty + 1];
      if (more && empty > 0 && (token === '' || empty === mostEmptyPages))
        throw new StoreUnavailable('a list gives pages without an object, and says that there are more');
    }
    return found;
  }

  async remove(key: string): Promise<void> {
    await answered(this.#client.removeObject(this.#bucket, key), 'NoSuchKey');
  }

  /** @returns the id of a new multipart upload */
  async createUpload(key: string, contentType: string): Promise<string> {
    // AWS takes no checksums of parts that were not announced.
    const headers = { 'content-type': contentType, 'x-amz-checksum-algorithm': 'CRC32' };
    return answered(this.#client.initiateNewMultipartUpload(this.#bucket, key, headers));
  }

  /**
   * Asked for without a prefix: MinIO then tells of those that this server has begun since it started, for the name of a folder it tells of
   * none, and only for an object's exact key of all (measured with its last release). Other S3 stores tell of all.
   */
  async *unfinishedUploads(): AsyncGenerator<UnfinishedWrite> {
    for (let [key, id] = ['', '']; ; ) {
      const page = await answered(this.#client.listIncompleteUploadsQuery(this.#bucket, '', key, id, ''));
      for (const upload of page.uploads) {
        yield { id: upload.uploadId, key: upload.key, writtenAt: new Date(upload.initiated as string | Date) };
      }
      if (!page.isTruncated) return;
      [key, id] = [page.nextKeyMarker, page.nextUploadIdMarker];
    }
  }

  async abortUpload(key: string, uploadId: string): Promise<void> {
    await answered(this.#client.abortMultipartUpload(this.#bucket, key, uploadId), 'NoSuchUpload');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    await this.data[Symbol.asyncDispose]();
  }
}

// A listing without a delimiter has no prefixes in it.
function listed({ name, size, etag, lastModified }: BucketItem): ListedObject {
  if (name === undefined || etag === undefined || lastModified === undefined)
    throw storeFault(new Error('the store lists no objects'));
  return { key: name, size, etag, writtenAt: new Date(lastModified) };
}

/** What a call of minio's client gave; undefined where the store refused it with one of the codes in `expected`. */
async function answered<T>(call: Promise<T>): Promise<T>;
async function answered<T>(call: Promise<T>, ...expected: string[]): Promise<T | undefined>;
async function answered<T>(call: Promise<T>, ...expected: string[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (expected.includes((error as { code: string }).code)) return undefined;
    throw storeFault(error);
  }
}

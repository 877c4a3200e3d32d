import http from 'node:http';
import https from 'node:https';
import type { Secret } from '@echodrop/service/secret';
import { type BucketItem, Client } from 'minio';
import { type ListedObject, StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';
import { fromStore } from '../store-body.ts';
import { type StoreDeadlines, transportWithDeadline } from './deadlines.ts';
import { MultipartRequests } from './multipart-requests.ts';
import { ObjectRequests } from './object-requests.ts';
import { SignedRequests } from './signed-requests.ts';

/** `endpoint` is an http(s) address without a path. */
export interface S3Address {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: Secret;
  readonly secretKey: Secret;
}

const maxSockets = 128;
const idleSocketMs = 4000;
const maxEmptyPages = 100;

/** S3 calls on one bucket. Those of MinIO's client are sent once. Each request has a deadline; lists may need several. @throws StoreUnavailable */
export class MinioBucket implements AsyncDisposable {
  readonly objects: ObjectRequests;
  readonly multipart: MultipartRequests;
  readonly #requests: SignedRequests;
  readonly #bucket: string;
  readonly #region: string;
  readonly #agent: http.Agent;
  readonly #client: Client;

  constructor(
    { endpoint, region, bucket, accessKey, secretKey }: S3Address,
    deadlines: StoreDeadlines,
    requiresChecksums: boolean,
  ) {
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
    this.#requests = new SignedRequests(endpoint, bucket, { region, accessKey, secretKey }, deadlines);
    this.objects = new ObjectRequests(this.#requests, deadlines, requiresChecksums);
    this.multipart = new MultipartRequests(this.#requests, deadlines);
  }

  /** Creates the bucket if it is missing; another process may do the same. */
  async ensureExists(): Promise<void> {
    if (await fromStore(this.#client.bucketExists(this.#bucket))) return;
    const made = this.#client.makeBucket(this.#bucket, this.#region);
    await fromStore(made, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists');
  }

  /**
   * Up to `limit`, at most 1000. A page may have fewer objects or none although more follow (S3 API, ListObjectsV2). The list
   * continues after the last key, and after an empty page with the store's token: MinIO's client changes tokens that look like
   * numbers.
   */
  async list(prefix: string, after: string, limit: number): Promise<ListedObject[]> {
    const found: ListedObject[] = [];
    for (let [more, token, empty] = [true, '', 0]; more && found.length < limit; ) {
      const last = found.at(-1)?.key ?? after;
      const query = this.#client.listObjectsV2Query(this.#bucket, prefix, token, '', limit - found.length, last);
      const { objects, isTruncated, nextContinuationToken } = await fromStore(query);
      found.push(...objects.map(toListedObject));
      more = isTruncated;
      [token, empty] = objects.length > 0 ? ['', 0] : [nextContinuationToken, empty + 1];
      if (more && empty > 0 && (token === '' || empty === maxEmptyPages))
        throw new StoreUnavailable('object store sent too many empty list pages');
    }
    return found;
  }

  async remove(key: string): Promise<void> {
    await fromStore(this.#client.removeObject(this.#bucket, key), 'NoSuchKey');
  }

  /**
   * Lists without a prefix: MinIO then reports the uploads that this server began since its start. With a folder as prefix it reports none,
   * and only with an exact key all (measured with its last release). Other S3 stores report all.
   */
  async *unfinishedUploads(): AsyncGenerator<UnfinishedWrite> {
    for (let [key, id] = ['', '']; ; ) {
      const page = await fromStore(this.#client.listIncompleteUploadsQuery(this.#bucket, '', key, id, ''));
      for (const upload of page.uploads) {
        yield { id: upload.uploadId, key: upload.key, writtenAt: new Date(upload.initiated as string | Date) };
      }
      if (!page.isTruncated) return;
      [key, id] = [page.nextKeyMarker, page.nextUploadIdMarker];
    }
  }

  async abortUpload(key: string, uploadId: string): Promise<void> {
    await fromStore(this.#client.abortMultipartUpload(this.#bucket, key, uploadId), 'NoSuchUpload');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    await this.#requests[Symbol.asyncDispose]();
  }
}

// A list without a delimiter contains no prefixes.
function toListedObject({ name, size, etag, lastModified }: BucketItem): ListedObject {
  if (name === undefined || etag === undefined || lastModified === undefined)
    throw new StoreUnavailable('object store sent an invalid list');
  return { key: name, size, etag, writtenAt: new Date(lastModified) };
}

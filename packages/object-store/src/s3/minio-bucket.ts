import type { Secret } from '@echodrop/service/secret';
import { type ListedObject, StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';
import type { StoreDeadlines } from './deadlines.ts';
import { MultipartRequests } from './multipart-requests.ts';
import { ObjectRequests } from './object-requests.ts';
import { invalidList, readObjectPage, readUploadPage } from './response-xml.ts';
import { SignedRequests, type StoreResponse } from './signed-requests.ts';
import { responseError } from './store-response.ts';

/** `endpoint` is an http(s) address without a path. */
export interface S3Address {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: Secret;
  readonly secretKey: Secret;
}

const maxEmptyPages = 100;
/** The region that AWS does not accept as a location of a new bucket: it is the default. */
const defaultRegion = 'us-east-1';

/** S3 calls on one bucket. Each request has a deadline; lists may need several. @throws StoreUnavailable */
export class MinioBucket implements AsyncDisposable {
  // A node of MinIO that has just come back was seen to miss writes for a second or two.
  readonly rereadMs = 2500;
  readonly objects: ObjectRequests;
  readonly multipart: MultipartRequests;
  readonly #requests: SignedRequests;
  readonly #deadlines: StoreDeadlines;
  readonly #region: string;

  constructor(
    { endpoint, region, bucket, accessKey, secretKey }: S3Address,
    deadlines: StoreDeadlines,
    requiresChecksums: boolean,
  ) {
    this.#region = region;
    this.#deadlines = deadlines;
    this.#requests = new SignedRequests(endpoint, bucket, { region, accessKey, secretKey }, deadlines);
    this.objects = new ObjectRequests(this.#requests, deadlines, requiresChecksums);
    this.multipart = new MultipartRequests(this.#requests, deadlines);
  }

  /** Creates the bucket if it is missing; another process may do the same. */
  async ensureExists(): Promise<void> {
    const found = await this.#send('HEAD', '');
    if (found.status === 200) return;
    if (found.status !== 404) throw responseError(found.status, found.body);
    const { callMs } = this.#deadlines;
    const made = await this.#requests.send('PUT', '', { body: locationXml(this.#region) }, callMs);
    if (made.status === 200) return;
    const error = responseError(made.status, made.body);
    if (!/BucketAlready(OwnedByYou|Exists)/.test(error.message)) throw error;
  }

  /**
   * Up to `limit`, at most 1000. A page may have fewer objects or none although more follow (S3 API, ListObjectsV2). The list
   * continues after the last key, and after an empty page with the store's token.
   */
  async list(prefix: string, after: string, limit: number): Promise<ListedObject[]> {
    const found: ListedObject[] = [];
    for (let [more, token, empty] = [true, '', 0]; more && found.length < limit; ) {
      const last = found.at(-1)?.key ?? after;
      const page = readObjectPage(
        await this.#list({
          'list-type': '2',
          'max-keys': `${limit - found.length}`,
          prefix,
          ...(last && { 'start-after': last }),
          ...(token && { 'continuation-token': token }),
        }),
      );
      requireNext(page.objects, { prefix, after: last, limit: limit - found.length });
      found.push(...page.objects);
      more = page.isTruncated;
      [token, empty] = page.objects.length > 0 ? ['', 0] : [page.token, empty + 1];
      if (more && empty > 0 && (token === '' || empty === maxEmptyPages))
        throw new StoreUnavailable('object store sent too many empty list pages');
    }
    return found;
  }

  async remove(key: string): Promise<void> {
    const { status, body } = await this.#send('DELETE', key);
    if (status !== 204 && status !== 200 && status !== 404) throw responseError(status, body);
  }

  /**
   * Lists without a prefix: MinIO then reports the uploads that this server began since its start. With a folder as prefix it reports none,
   * and only with an exact key all (measured with its last release). Other S3 stores report all.
   */
  async *unfinishedUploads(): AsyncGenerator<UnfinishedWrite> {
    for (let marker: Record<string, string> = {}; ; ) {
      const { uploads, next } = readUploadPage(await this.#list({ uploads: '', 'max-uploads': '1000', ...marker }));
      yield* uploads;
      if (!next) return;
      if (next.key === marker['key-marker'] && next.id === marker['upload-id-marker']) throw invalidList();
      marker = { 'key-marker': next.key, 'upload-id-marker': next.id };
    }
  }

  async abortUpload(key: string, uploadId: string): Promise<void> {
    const { status, body } = await this.#send('DELETE', key, { uploadId });
    if (status !== 204 && status !== 404) throw responseError(status, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#requests[Symbol.asyncDispose]();
  }

  async #list(query: Record<string, string>): Promise<Buffer> {
    const { status, body } = await this.#send('GET', '', { ...query, 'encoding-type': 'url' });
    if (status !== 200) throw responseError(status, body);
    return body;
  }

  #send(method: 'GET' | 'HEAD' | 'DELETE', key: string, query = {}): Promise<StoreResponse> {
    return this.#requests.send(method, key, { query }, this.#deadlines.callMs);
  }
}

/** Other keys could make a list endless, or its reader handle an object twice. @throws StoreUnavailable unless these are what was requested */
function requireNext(
  objects: readonly ListedObject[],
  { prefix, after, limit }: { prefix: string; after: string; limit: number },
): void {
  let last = Buffer.from(after);
  const areNext = objects.every(({ key }) => {
    const [before, bytes] = [last, Buffer.from(key)];
    last = bytes;
    return key.startsWith(prefix) && Buffer.compare(before, bytes) < 0;
  });
  if (!areNext || objects.length > limit) throw invalidList();
}

function locationXml(region: string): string {
  if (region === defaultRegion) return '';
  const location = `<LocationConstraint>${region}</LocationConstraint>`;
  return `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${location}</CreateBucketConfiguration>`;
}

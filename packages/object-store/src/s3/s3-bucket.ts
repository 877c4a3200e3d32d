import type { Secret } from '@echodrop/service/secret';
import { StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';
import { limitationsOf, type ProbeOptions, type StoreCapabilities } from '../store-capabilities.ts';
import { ConditionalWrites } from './conditional-writes.ts';
import type { StoreDeadlines } from './deadlines.ts';
import { MultipartRequests } from './multipart-requests.ts';
import { ObjectLists } from './object-lists.ts';
import { ObjectRequests } from './object-requests.ts';
import { type ProbeResult, probeStore } from './probe-store.ts';
import { invalidList, readUploadPage } from './response-xml.ts';
import { SignedRequests, type StoreResponse } from './signed-requests.ts';
import { isOutage, PartsLost, responseError } from './store-response.ts';
import { confirmsByWrite, WriteRules } from './write-rules.ts';

/** `endpoint` is an http(s) address without a path. */
export interface S3Address {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKey: Secret;
  readonly secretKey: Secret;
}

export interface BucketOptions {
  readonly deadlines: StoreDeadlines;
  readonly isStrict: boolean;
  readonly onProbed: (found: StoreCapabilities) => void;
}

// Shorter than the 5 s between two health checks (packages/service/src/health.ts), so that the next check probes again.
const firstPauseMs = 2500;
const lastPauseMs = 15_000;

/** The region that AWS does not accept as a location of a new bucket: it is the default. */
const defaultRegion = 'us-east-1';

/** S3 calls on one bucket. Each request has a deadline. A list may take several requests. @throws StoreUnavailable */
export class S3Bucket implements AsyncDisposable {
  // A node of MinIO that has just come back was seen to miss writes for a second or two.
  readonly rereadMs = 2500;
  readonly objects: ObjectRequests;
  readonly conditional: ConditionalWrites;
  readonly multipart: MultipartRequests;
  readonly lists: ObjectLists;
  readonly #requests: SignedRequests;
  readonly #region: string;
  /** Whether the endpoint begins with the name of the bucket, as consoles show it. */
  readonly #hasBucketInHost: boolean;
  readonly #rules: WriteRules;
  readonly #onProbed: (found: StoreCapabilities) => void;
  #wasThere = false;
  #running: Promise<StoreCapabilities> | undefined;
  /** Why the last probe failed, and until when no other begins. */
  #failedProbe: { readonly error: unknown; readonly until: number; readonly pauseMs: number } | undefined;

  constructor(
    { endpoint, region, bucket, accessKey, secretKey }: S3Address,
    { deadlines, isStrict, onProbed }: BucketOptions,
  ) {
    this.#region = region;
    this.#hasBucketInHost = new URL(endpoint).hostname.startsWith(`${bucket}.`);
    this.#requests = new SignedRequests(endpoint, bucket, { region, accessKey, secretKey }, deadlines);
    this.#rules = new WriteRules(isStrict, isStrict ? () => this.#probeUnlessPaused() : undefined);
    this.#onProbed = onProbed;
    this.objects = new ObjectRequests(this.#requests, this.#rules);
    this.conditional = new ConditionalWrites(this.objects, this.#rules);
    this.multipart = new MultipartRequests(this.#requests, this.objects, this.#rules);
    this.lists = new ObjectLists((query) => this.#list(query));
  }

  /** Implements `ObjectStore.ready`. */
  async ready(): Promise<void> {
    try {
      await this.#ensureExists();
    } catch (error) {
      if (isOutage(error)) this.#rules.doubt();
      throw error;
    }
    // A store that was usable before stays ready while it is probed again, unless its last probe failed.
    if (!this.#running) await this.#rules.ensureProbed();
    else if (!this.#rules.hasAdopted || this.#failedProbe) throw new StoreUnavailable('object store is being probed');
  }

  /** Probes the store. After a failed probe, throws its error until a pause is over: 2.5 s, then 5, up to 15. @throws StoreUnavailable */
  async #probeUnlessPaused(): Promise<void> {
    const { error, until = 0, pauseMs = firstPauseMs } = this.#failedProbe ?? {};
    if (performance.now() < until) throw error;
    try {
      await this.probe();
      this.#failedProbe = undefined;
    } catch (error) {
      this.#failedProbe = { error, until: performance.now() + pauseMs, pauseMs: Math.min(2 * pauseMs, lastPauseMs) };
      throw error;
    }
  }

  /** Implements `ObjectStore.probe`. Calls at the same time share one probe, with the options of the first. */
  async probe(options: ProbeOptions = {}): Promise<StoreCapabilities> {
    this.#running ??= this.#probe(options).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Creates a missing bucket, unless it was there before: a store that is back without its disk would take uploads that vanish with the disk's return. */
  async #ensureExists(): Promise<void> {
    const found = await this.#send('HEAD', '');
    if (found.status !== 200) await this.#create(found);
    this.#wasThere = true;
  }

  async #create(found: StoreResponse): Promise<void> {
    if (found.status !== 404) throw await this.#errorOf(found);
    if (this.#wasThere)
      throw new StoreUnavailable(
        'bucket is missing, although it was there before: give the store its disk back, or restart the services for a new bucket',
      );
    if (this.#hasBucketInHost)
      throw new StoreUnavailable(
        'bucket is missing: remove its name from the host of S3_ENDPOINT, or create the bucket yourself',
      );
    const made = await this.#requests.send('PUT', '', { body: locationXml(this.#region) });
    if (made.status === 200) return;
    const cause = responseError(made.status, made.body);
    if (!/BucketAlready(OwnedByYou|Exists)/.test(cause.message))
      throw new StoreUnavailable('bucket is missing, and was not created', { cause });
  }

  /** Removes an object, or what `query` names of it. */
  async remove(key: string, query = {}): Promise<void> {
    const { status, body } = await this.#send('DELETE', key, query);
    if (status !== 204 && status !== 200 && status !== 404) throw responseError(status, body);
  }

  /**
   * Lists without a prefix: only then does MinIO report the uploads that this server has begun since its start. With a folder as prefix MinIO
   * reports none; with a whole key, all of that key (measured with its last release). Other S3 stores report all.
   */
  async *unfinishedUploads(): AsyncGenerator<UnfinishedWrite> {
    for (let marker: Record<string, string> = {}; ; ) {
      const page = await this.#listUploads(marker);
      if (!page) return;
      const { uploads, next } = readUploadPage(page);
      yield* uploads;
      if (!next) return;
      if (next.key === marker['key-marker'] && next.id === marker['upload-id-marker']) throw invalidList();
      marker = { 'key-marker': next.key, 'upload-id-marker': next.id };
    }
  }

  async abortUpload(key: string, uploadId: string): Promise<void> {
    await this.remove(key, { uploadId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#requests[Symbol.asyncDispose]();
  }

  async #probe(options: ProbeOptions): Promise<StoreCapabilities> {
    const probe = () => probeStore(this.#requests, options);
    // A thorough probe is not repeated: a person reads its result and can run it again.
    const { found, canRead } = await (options.isThorough ? probe() : probeAgainUnlessComplete(probe));
    if (!canRead && !confirmsByWrite(found))
      throw new StoreUnavailable('object store confirms no writes, so its key needs permission to read media');
    this.#rules.adopt(found);
    this.#onProbed(found);
    return found;
  }

  // The response to a HEAD has no body, and so no code that says why. A GET of any key gets the same error with a body.
  async #errorOf({ status }: StoreResponse): Promise<Error> {
    const { status: again, body } = await this.#send('GET', 'clock');
    return responseError(status, again === status ? body : Buffer.alloc(0));
  }

  async #list(query: Record<string, string>): Promise<Buffer> {
    const { status, body } = await this.#send('GET', '', { ...query, 'encoding-type': 'url' });
    if (status !== 200) throw responseError(status, body);
    return body;
  }

  async #listUploads(marker: Record<string, string>): Promise<Buffer | undefined> {
    try {
      return await this.#list({ uploads: '', ...marker });
    } catch (error) {
      // gofakes3, and so `rclone serve s3`, responds with NoSuchUpload if there are no uploads.
      if (error instanceof PartsLost) return undefined;
      throw error;
    }
  }

  #send(method: 'GET' | 'HEAD' | 'DELETE', key: string, query = {}): Promise<StoreResponse> {
    return this.#requests.send(method, key, { query });
  }
}

/**
 * Probes again if a probe fails or misses something: a lost response, or one 429, looks like a missing capability. Then
 * the second result holds, except that two winners seen in the first still count.
 * @throws StoreUnavailable if the second probe fails
 */
async function probeAgainUnlessComplete(probe: () => Promise<ProbeResult>): Promise<ProbeResult> {
  const first = await probe().catch(() => undefined);
  if (first && limitationsOf(first.found).length === 0) return first;
  const second = await probe();
  return first?.hasTwoWinners ? { ...second, found: { ...second.found, hasConditionalWrites: false } } : second;
}

function locationXml(region: string): string {
  if (region === defaultRegion) return '';
  const location = `<LocationConstraint>${region}</LocationConstraint>`;
  return `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${location}</CreateBucketConfiguration>`;
}

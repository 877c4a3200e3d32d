import { Checksum } from '../checksum.ts';
import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { StoreUnavailable } from '../object-store.ts';
import { fullCapabilities, type ProbeOptions, type StoreCapabilities } from '../store-capabilities.ts';
import type { StoreDeadlines } from './deadlines.ts';
import { joinedTag, MultipartRequests, type WrittenPart } from './multipart-requests.ts';
import type { SignedRequests, StoreResponse } from './signed-requests.ts';
import {
  checksumHeader,
  OtherPartsJoined,
  PartsLost,
  readChecksum,
  readTag,
  responseError,
  StoreRefused,
} from './store-response.ts';
import { isRefusal, md5Of, WriteRules } from './write-rules.ts';

const races = { usual: 1, thorough: 20 };
const MiB = 1024 * 1024;

/**
 * Finds out what a store does, by about 20 small requests with media keys of its own, whose objects it removes. What needs permission to read media
 * is skipped without.
 * @throws StoreUnavailable if the store refuses what has no replacement, or does not return what it has just stored
 */
export async function probeStore(
  requests: SignedRequests,
  deadlines: StoreDeadlines,
  { isThorough = false }: ProbeOptions = {},
): Promise<StoreCapabilities> {
  await using probe = new Probe(requests, deadlines);
  const checksums = await probe.findChecksums();
  const stored = await probe.store(checksums);
  const { isConditional, hasRepeatedWrites } = await probe.writeAgain(stored, checksums);
  const pairs = isThorough ? races.thorough : races.usual;
  const wins = isConditional ? await Promise.all(Array.from({ length: pairs }, () => probe.race(checksums))) : [];
  const joined = await probe.joinParts(checksums);
  if (isThorough) await probe.examine(checksums);
  return {
    checksums,
    hasRepeatedWrites,
    hasConditionalWrites: isConditional && wins.every((count) => count === 1),
    ...joined,
    harmless: [...probe.harmless].sort(),
  };
}

type Checksums = StoreCapabilities['checksums'];

const bytes = Buffer.from('A probe of this store.');
const other = Buffer.from('Another probe of this store.');

class Probe implements AsyncDisposable {
  readonly #requests: SignedRequests;
  readonly #deadlines: StoreDeadlines;
  readonly #keys: string[] = [];
  /** See StoreCapabilities. */
  readonly harmless = new Set<string>();
  /** Keys and ids of multipart uploads. */
  readonly #uploads: [string, string][] = [];

  constructor(requests: SignedRequests, deadlines: StoreDeadlines) {
    this.#requests = requests;
    this.#deadlines = deadlines;
  }

  /** What the store verifies: it must refuse a write with a wrong checksum, and accept it with the right one. */
  async findChecksums(): Promise<Checksums> {
    const crc32 = await this.#verifies((of) => ({ signedHeaders: { [checksumHeader]: crc32Of(of) } }));
    if (crc32.isVerified && readChecksum(crc32.headers) === crc32Of(bytes)) return 'crc32';
    const md5 = await this.#verifies((of) => ({ headers: { 'content-md5': md5Of([of]).toString('base64') } }));
    if (md5.isVerified) return 'md5';
    const { headers } = await this.#write(this.#newKey(), bytes, {});
    return readTag(headers) === md5Of([bytes]).toString('hex') ? 'tag' : 'none';
  }

  /** @returns the key of an object that exists, and can be read if the permissions allow it */
  async store(checksums: Checksums): Promise<string> {
    const key = this.#newKey();
    await this.#write(key, bytes, checksumsOf(bytes, checksums));
    const found = await this.#head(key);
    if (found !== 'unknown' && found === undefined)
      throw new StoreUnavailable('object store does not return an object that it has just stored');
    return key;
  }

  /** What happens to a conditional write of an object that exists, directly after the first write. */
  async writeAgain(key: string, checksums: Checksums) {
    const { status, body, earlier } = await this.#conditional(key, checksums);
    const isConditional = status === 412;
    if (!isConditional && status !== 200 && !isRefusal(status)) throw responseError(status, body);
    return { isConditional, hasRepeatedWrites: !earlier.includes(429) };
  }

  /** @returns how many of two conditional writes of a new object created it */
  async race(checksums: Checksums): Promise<number> {
    const key = this.#newKey();
    const both = await Promise.all([this.#conditional(key, checksums), this.#conditional(key, checksums)]);
    if (both.some(({ earlier }) => earlier.includes(409)))
      this.harmless.add('The store refuses one of two concurrent writes of an object with 409: it is repeated.');
    return both.filter(({ status }) => status === 200).length;
  }

  /** Completes a multipart upload, and tries to complete one whose part was replaced. */
  async joinParts(checksums: Checksums) {
    const rules = new WriteRules(true);
    rules.adopt({ ...fullCapabilities, checksums });
    const [key, replaced] = [this.#newKey(), this.#newKey()];
    const begin = (of: string) => this.#beginParts(of, checksums, rules);
    const upload = await begin(key);
    const part = await upload.put(bytes);
    const tag = await upload.complete([part]);
    const found = await this.#head(key);
    const hasMd5OfParts = tag === joinedTag([part.etag]);
    rules.adopt({ ...fullCapabilities, checksums, hasMd5OfParts });
    const late = await begin(replaced);
    const first = await late.put(bytes);
    await late.put(other);
    const refusal = await late.complete([first]).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (refusal && !(refusal instanceof StoreRefused) && !(refusal instanceof OtherPartsJoined)) throw refusal;
    if (refusal instanceof OtherPartsJoined)
      this.harmless.add('The store completes a multipart upload although a part was replaced: its response shows it.');
    return {
      comparesParts: refusal !== undefined,
      hasMd5OfParts,
      hasFinalTags: found === 'unknown' || found === tag,
    };
  }

  /** What the usual probe omits: parts of different sizes, and the list of no multipart upload. */
  async examine(checksums: Checksums): Promise<void> {
    const rules = new WriteRules(true);
    rules.adopt({ ...fullCapabilities, checksums });
    const upload = await this.#beginParts(this.#newKey(), checksums, rules);
    const parts = [];
    for (const size of [5 * MiB, 5 * MiB + 1, 1]) parts.push(await upload.put(Buffer.alloc(size), parts.length + 1));
    const refusal = await upload.complete(parts).catch((error: unknown) => error);
    if (refusal instanceof StoreRefused)
      this.harmless.add('The store refuses parts of different sizes: all parts but the last have 8 MiB.');
    const query = { uploads: '', prefix: this.#newKey() };
    const { status, body } = await this.#requests.send('GET', '', { query }, this.#deadlines.callMs);
    if (responseError(status, body) instanceof PartsLost)
      this.harmless.add('The store responds with NoSuchUpload to a list of multipart uploads if there are none.');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const remove = (key: string, query = {}) => this.#requests.send('DELETE', key, { query }, this.#deadlines.callMs);
    await Promise.allSettled(this.#uploads.map(([key, uploadId]) => remove(key, { uploadId })));
    await Promise.allSettled(this.#keys.map((key) => remove(key)));
  }

  async #beginParts(key: string, checksums: Checksums, rules: WriteRules) {
    const multipart = new MultipartRequests(this.#requests, this.#deadlines, rules);
    const uploadId = await multipart.create(key, 'application/octet-stream');
    this.#uploads.push([key, uploadId]);
    return {
      put: async (part: Buffer, number = 1): Promise<WrittenPart> => {
        const query = { uploadId, partNumber: `${number}` };
        const { headers } = await this.#write(key, part, checksumsOf(part, checksums), query);
        return { etag: readTag(headers), crc32: crc32Of(part) };
      },
      complete: (parts: readonly WrittenPart[]) => multipart.complete(key, uploadId, parts, undefined),
    };
  }

  #newKey(): string {
    const key = mediaObjectKey(newMediaKey());
    this.#keys.push(key);
    return key;
  }

  /** Whether writes with a header are accepted only if it is right; and the headers of the response to the right one. */
  async #verifies(headersOf: (of: Buffer) => WriteHeaders) {
    const right = await this.#send(this.#newKey(), bytes, headersOf(bytes));
    if (isRefusal(right.status)) return { isVerified: false, headers: right.headers };
    if (right.status !== 200) throw responseError(right.status, right.body);
    const wrong = await this.#send(this.#newKey(), bytes, headersOf(other));
    if (wrong.status >= 400 && !/Digest|Checksum/.test(responseError(wrong.status, wrong.body).message))
      this.harmless.add('The store gives another reason than a checksum when it refuses a wrong one.');
    return { isVerified: wrong.status >= 400, headers: right.headers };
  }

  #conditional(key: string, checksums: Checksums): Promise<StoreResponse> {
    const { headers, signedHeaders } = checksumsOf(bytes, checksums);
    return this.#send(key, bytes, { headers: { ...headers, 'if-none-match': '*' }, signedHeaders });
  }

  /** The tag of an object, undefined if it does not exist, `unknown` without permission to read. */
  async #head(key: string): Promise<string | undefined> {
    const { status, headers } = await this.#requests.send('HEAD', key, {}, this.#deadlines.callMs);
    if (status === 404) return undefined;
    return status === 200 ? readTag(headers) : 'unknown';
  }

  async #write(key: string, body: Buffer, headers: WriteHeaders, query = {}): Promise<StoreResponse> {
    const response = await this.#send(key, body, headers, query);
    if (response.status !== 200) throw responseError(response.status, response.body);
    return response;
  }

  #send(key: string, body: Buffer, { headers, signedHeaders }: WriteHeaders, query = {}): Promise<StoreResponse> {
    const request = { query, headers: { ...headers, 'content-length': `${body.length}` }, signedHeaders, body };
    return this.#requests.send('PUT', key, request, this.#deadlines.writeMs);
  }
}

interface WriteHeaders {
  readonly headers?: Record<string, string>;
  readonly signedHeaders?: Record<string, string>;
}

function checksumsOf(of: Buffer, checksums: Checksums): WriteHeaders {
  const rules = new WriteRules(true);
  rules.adopt({ ...fullCapabilities, checksums });
  const [headers, signedHeaders] = rules.checksumHeaders({ blocks: [of], crc32: crc32Of(of) });
  return { headers, signedHeaders };
}

function crc32Of(of: Buffer): string {
  const checksum = new Checksum();
  checksum.add(of);
  return checksum.base64;
}

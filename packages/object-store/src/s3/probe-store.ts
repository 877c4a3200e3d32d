import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { StoreUnavailable } from '../object-store.ts';
import { fullCapabilities, type ProbeOptions, type StoreCapabilities } from '../store-capabilities.ts';
import type { StoreDeadlines } from './deadlines.ts';
import { findChecksums, type WriteHeaders } from './find-checksums.ts';
import { joinedTag, MultipartRequests, type WrittenPart } from './multipart-requests.ts';
import { contentOf, ObjectRequests } from './object-requests.ts';
import type { SignedRequests, StoreResponse } from './signed-requests.ts';
import { OtherPartsJoined, PartsLost, responseError, StoreRefused } from './store-response.ts';
import { confirmsByWrite, isRefusal, WriteRules } from './write-rules.ts';

const races = { usual: 1, thorough: 20 };
const MiB = 1024 * 1024;

/**
 * Finds out what a store does, by about 20 small requests with media keys of its own, whose objects it removes. What needs permission to read media
 * is skipped without.
 * @throws StoreUnavailable if the store refuses what has no replacement, does not return what it has just stored, or lacks conditional writes and does
 * not let this key read
 */
export async function probeStore(
  requests: SignedRequests,
  deadlines: StoreDeadlines,
  { isThorough = false }: ProbeOptions = {},
): Promise<StoreCapabilities> {
  await using probe = new Probe(requests, deadlines);
  if (isThorough) await probe.listUploads();
  const checksums = await probe.findChecksums();
  const { isConditional, hasRepeatedWrites } = await probe.writeAgain(await probe.store());
  const pairs = isThorough ? races.thorough : races.usual;
  const wins = isConditional ? await Promise.all(Array.from({ length: pairs }, () => probe.race())) : [];
  const joined = await probe.joinParts();
  const hasConditionalWrites = isConditional && wins.every((count) => count === 1);
  const found = { ...fullCapabilities, checksums, hasRepeatedWrites, hasConditionalWrites, ...joined };
  if (!probe.canRead && !confirmsByWrite(found))
    throw new StoreUnavailable('object store confirms no writes, so its key needs permission to read media');
  if (isThorough) await probe.joinUnequalParts();
  // Whether two writes meet is chance: only many pairs show it.
  return { ...found, harmless: isThorough ? [...probe.harmless].sort() : [] };
}

const bytes = Buffer.from('A probe of this store.');
const other = Buffer.from('Another probe of this store.');

class Probe implements AsyncDisposable {
  readonly #requests: SignedRequests;
  readonly #deadlines: StoreDeadlines;
  readonly #rules = new WriteRules(true);
  readonly #objects: ObjectRequests;
  readonly #multipart: MultipartRequests;
  readonly #keys: string[] = [];
  /** Whether the key may read media. */
  canRead = true;
  /** See StoreCapabilities. */
  readonly harmless = new Set<string>();
  /** Keys and ids of multipart uploads. */
  readonly #uploads: [string, string][] = [];

  constructor(requests: SignedRequests, deadlines: StoreDeadlines) {
    this.#requests = requests;
    this.#deadlines = deadlines;
    this.#objects = new ObjectRequests(requests, deadlines, this.#rules);
    this.#multipart = new MultipartRequests(requests, deadlines, this.#rules);
  }

  /** What the store verifies. Later writes carry it. */
  async findChecksums(): Promise<StoreCapabilities['checksums']> {
    const send = (headers: WriteHeaders) => {
      const request = { ...headers, body: bytes };
      return this.#requests.send('PUT', this.#newKey(), request, this.#deadlines.writeMs);
    };
    const { checksums, hasOtherReason } = await findChecksums(bytes, send);
    if (hasOtherReason)
      this.harmless.add('The store gives another reason than a checksum when it refuses a wrong one.');
    this.#rules.adopt({ ...fullCapabilities, checksums });
    return checksums;
  }

  /** @returns the key of an object that exists, and can be read if the permissions allow it */
  async store(): Promise<string> {
    const key = this.#newKey();
    await this.#objects.put(key, contentOf(bytes));
    if ((await this.#tagOf(key)) === undefined)
      throw new StoreUnavailable('object store does not return an object that it has just stored');
    return key;
  }

  /** What happens to a conditional write of an object that exists, directly after the first write. */
  async writeAgain(key: string) {
    const { status, body, earlier } = await this.#writeUnlessExists(key);
    const isConditional = status === 412;
    if (!isConditional && status !== 200 && !isRefusal(status)) throw responseError(status, body);
    return { isConditional, hasRepeatedWrites: !earlier.includes(429) };
  }

  /** @returns how many of two conditional writes of a new object created it */
  async race(): Promise<number> {
    const key = this.#newKey();
    const both = await Promise.all([this.#writeUnlessExists(key), this.#writeUnlessExists(key)]);
    if (both.some(({ earlier }) => earlier.includes(409)))
      this.harmless.add('The store refuses one of two concurrent writes of an object with 409: it is repeated.');
    return both.filter(({ status }) => status === 200).length;
  }

  /** Completes a multipart upload, and tries to complete one whose part was replaced. */
  async joinParts() {
    const upload = await this.#beginParts();
    const part = await upload.put(bytes);
    const tag = await upload.complete([part], bytes);
    const found = await this.#tagOf(upload.key);
    const hasMd5OfParts = tag === joinedTag([part.etag]);
    this.#rules.adopt({ ...this.#rules.capabilities, hasMd5OfParts });
    const late = await this.#beginParts();
    const first = await late.put(bytes);
    await late.put(other);
    const refusal = await refusalOf(late.complete([first], bytes));
    if (refusal instanceof OtherPartsJoined)
      this.harmless.add('The store completes a multipart upload although a part was replaced: its response shows it.');
    const hasNamedPart = refusal === undefined && (await this.#has(late.key, bytes));
    if (hasNamedPart) this.harmless.add('The store keeps a part that was replaced, and joins the one that was named.');
    return {
      comparesParts: refusal !== undefined || hasNamedPart,
      hasMd5OfParts,
      hasFinalTags: found === 'unknown' || found === tag,
    };
  }

  /** Completes a multipart upload of parts of different sizes. */
  async joinUnequalParts(): Promise<void> {
    const upload = await this.#beginParts();
    const parts: WrittenPart[] = [];
    const all = Buffer.alloc(10 * MiB + 2);
    for (const size of [5 * MiB, 5 * MiB + 1, 1]) parts.push(await upload.put(all.subarray(0, size), parts.length + 1));
    if ((await refusalOf(upload.complete(parts, all))) instanceof StoreRefused)
      this.harmless.add('The store refuses parts of different sizes: all parts but the last have 8 MiB.');
  }

  /** Lists no multipart upload. gofakes3 refuses that until the first one in a bucket, so this comes before all others. */
  async listUploads(): Promise<void> {
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

  #writeUnlessExists(key: string): Promise<StoreResponse> {
    return this.#objects.write(key, contentOf(bytes), { 'if-none-match': '*' });
  }

  async #beginParts() {
    const key = this.#newKey();
    const uploadId = await this.#multipart.create(key, 'application/octet-stream');
    this.#uploads.push([key, uploadId]);
    const put = async (part: Buffer, number = 1): Promise<WrittenPart> => {
      const content = contentOf(part);
      const query = { uploadId, partNumber: `${number}` };
      return { etag: await this.#objects.put(key, content, { query }), crc32: content.checksum.base64 };
    };
    const complete = (parts: readonly WrittenPart[], all: Buffer) =>
      this.#multipart.complete(key, uploadId, parts, contentOf(all).checksum.base64);
    return { key, put, complete };
  }

  /** The tag of an object, undefined if it does not exist, `unknown` without permission to read. */
  async #tagOf(key: string): Promise<string | undefined> {
    const found = await this.#objects.head(key).catch((error: unknown) => {
      if (!(error instanceof StoreRefused)) throw error;
      this.canRead = false;
      return { etag: 'unknown' };
    });
    return found?.etag;
  }

  /** Whether an object has these few bytes; false without permission to read. */
  async #has(key: string, expected: Buffer): Promise<boolean> {
    const { status, body } = await this.#requests.send('GET', key, {}, this.#deadlines.callMs);
    return status === 200 && body.equals(expected);
  }

  #newKey(): string {
    const key = mediaObjectKey(newMediaKey());
    this.#keys.push(key);
    return key;
  }
}

/** Why the store does not complete an upload, or completes it otherwise; undefined if it does. @throws StoreUnavailable */
async function refusalOf(completion: Promise<string>): Promise<StoreUnavailable | undefined> {
  return completion.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof StoreRefused || error instanceof OtherPartsJoined) return error;
      throw error;
    },
  );
}

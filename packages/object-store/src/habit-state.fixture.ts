import type { IncomingHttpHeaders } from 'node:http';
import { Checksum } from './checksum.ts';
import type { Fault, Habit } from './habits.fixture.ts';
import { md5Of } from './s3/write-rules.ts';

export interface S3Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
}

export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

const secondMs = 1000;

/** What a proxy with habits remembers, and what it makes of requests and responses. `has` may change. */
export class HabitState {
  readonly #has: readonly (Habit | Fault)[];
  readonly #running = new Set<string>();
  readonly #raced = new Set<string>();
  #isRaceSpoilt = false;
  /** Multipart uploads with a first completion. */
  readonly #completed = new Set<string>();
  readonly #joined = new Set<string>();
  readonly #writtenAt = new Map<string, number>();
  /** Sizes, tags and checksums of the parts of each multipart upload, by number; the bytes only for the habit that needs them. */
  readonly #parts = new Map<string, Map<number, { size: number; etag: string; crc32: string; bytes?: Buffer }>>();

  constructor(has: readonly (Habit | Fault)[]) {
    this.#has = has;
  }

  async pass(request: S3Request, forward: (request: S3Request) => Promise<Answer>): Promise<Answer> {
    if (this.#hasHabit('is away')) throw new Error('no response');
    const refusal = this.#forbid(request) ?? this.#refuse(request) ?? this.#refuseUnknownNames(request);
    if (refusal) return refused(refusal);
    const isFirstRace = this.#isFirstRace(request);
    if (isFirstRace && this.#hasHabit('loses the first response of a race')) throw new Error('a lost response');
    if (isFirstRace && this.#hasHabit('answers the first race with 429'))
      return refused({ status: 429, code: 'TooManyRequests' });
    if (isCompletion(request)) return this.#complete(request, forward);
    const { url, method, headers } = request;
    if (this.#replacesPart(request) || (isFirstRace && this.#hasHabit('both writes of the first race win'))) {
      const etag = `"${md5Of([request.body]).toString('hex')}"`;
      const crc32 = headers['x-amz-checksum-crc32'];
      return { status: 200, headers: { etag, 'x-amz-checksum-crc32': crc32 }, body: Buffer.alloc(0) };
    }
    const isConditional = method === 'PUT' && headers['if-none-match'] !== undefined;
    if (isConditional) this.#running.add(url.pathname);
    try {
      const answer = await forward(this.#corrupt(this.#change(request)));
      return this.#spoil(request, this.#answer(request, answer));
    } finally {
      if (isConditional) this.#running.delete(url.pathname);
    }
  }

  #forbid({ method, url }: S3Request): Refusal | undefined {
    if (method === 'HEAD' && this.#hasHabit('has lost its bucket')) return { status: 404, code: 'NoSuchBucket' };
    const isReadOfMedia = ['GET', 'HEAD'].includes(method) && /^\/[^/]+\/media\//.test(url.pathname);
    const isReadRefused = isReadOfMedia && this.#hasHabit('refuses reads of media');
    const isRemovalRefused = method === 'DELETE' && this.#hasHabit('refuses removals');
    const isListRefused = url.searchParams.has('list-type') && this.#hasHabit('refuses lists');
    const isCompletionRefused = isCompletion({ method, url }) && this.#hasHabit('refuses completions');
    if (method === 'PUT' && this.#hasHabit('has a quota'))
      return { status: 400, code: 'XMinioAdminBucketQuotaExceeded' };
    const isRefused = isReadRefused || isRemovalRefused || isListRefused || isCompletionRefused;
    return isRefused ? { status: 403, code: 'AccessDenied' } : undefined;
  }

  /** Whether this is the first second conditional write of an object: the two are a race. */
  #isFirstRace({ method, url, headers }: S3Request): boolean {
    if (method !== 'PUT' || headers['if-none-match'] === undefined || this.#isRaceSpoilt) return false;
    this.#isRaceSpoilt = this.#raced.has(url.pathname);
    this.#raced.add(url.pathname);
    return this.#isRaceSpoilt;
  }

  async #complete(request: S3Request, forward: (request: S3Request) => Promise<Answer>): Promise<Answer> {
    const uploadId = request.url.searchParams.get('uploadId') ?? '';
    const isFirst = !this.#completed.has(uploadId);
    this.#completed.add(uploadId);
    const isFailed = isFirst && this.#hasHabit('fails after status 200 of each first completion');
    if (isFailed || this.#hasHabit('fails after status 200 of each completion'))
      return refused({ status: 200, code: 'InternalError' });
    const answer = await forward(this.#change(request));
    if (answer.status === 200) this.#joined.add(request.url.pathname);
    if (this.#hasHabit('does not answer completions')) await new Promise(() => {});
    if (isFirst && this.#hasHabit('loses the first response of each completion')) throw new Error('a lost response');
    if (isFirst && this.#hasHabit('cuts off the first response of each completion'))
      return { ...answer, body: Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n  ') };
    return this.#spoil(request, this.#answer(request, answer));
  }

  #refuse({ method, url, headers, body }: S3Request): Refusal | undefined {
    const isConditional = method === 'PUT' && headers['if-none-match'] !== undefined;
    const hasChecksums = Object.keys(headers).some((name) => /^x-amz-(sdk-)?checksum/.test(name));
    if (this.#hasHabit('refuses checksums') && hasChecksums) return { status: 400, code: 'InvalidArgument' };
    const refusal = isConditional ? this.#refuseCondition(url) : undefined;
    if (refusal) return refusal;
    if (method === 'PUT' && body.length === 0 && this.#hasHabit('refuses empty objects'))
      return { status: 411, code: 'MissingContentLength' };
    if (method === 'PUT' && this.#isForbiddenWrite(url)) return { status: 403, code: 'AccessDenied' };
    if (method === 'PUT' && this.#isSecondWrite(url)) return { status: 429, code: 'TooManyRequests' };
    if (method === 'POST' && this.#hasUnequalParts(url, body)) return { status: 400, code: 'InvalidPart' };
    if (method === 'POST' && numbersOf(body).length > 1 && this.#hasHabit('refuses several parts'))
      return { status: 400, code: 'EntityTooSmall' };
    return undefined;
  }

  #refuseCondition(url: URL): Refusal | undefined {
    if (this.#hasHabit('refuses conditions')) return { status: 501, code: 'NotImplemented' };
    const status = ([403, 405, 422, 500] as const).find((each) => this.#hasHabit(`conditions get ${each}`));
    if (status !== undefined) return { status, code: `Condition${status}` };
    const isConcurrent = this.#running.has(url.pathname);
    if (this.#hasHabit('conflicts') && isConcurrent) return { status: 409, code: 'ConditionalRequestConflict' };
    if (this.#hasHabit('refuses concurrent writes') && isConcurrent) return { status: 429, code: 'TooManyRequests' };
    return undefined;
  }

  /** Headers, elements and parameters that a store may not know. */
  #refuseUnknownNames({ url, headers, body }: S3Request): Refusal | undefined {
    const isAnnounced = headers['x-amz-checksum-algorithm'] !== undefined;
    if (this.#hasHabit('refuses announced checksums') && isAnnounced) return { status: 400, code: 'InvalidRequest' };
    const isNamed = body.includes('<ChecksumCRC32>');
    if (this.#hasHabit('refuses checksums in completions') && isNamed) return { status: 400, code: 'MalformedXML' };
    const has = (name: string) => url.searchParams.has(name);
    const isNeedless = has('max-uploads') || (has('start-after') && has('continuation-token'));
    if (this.#hasHabit('refuses needless parameters') && isNeedless) return { status: 400, code: 'InvalidArgument' };
    const isHighest = url.searchParams.get('start-after')?.endsWith('\u{10ffff}') === true;
    if (this.#hasHabit('refuses the highest character') && isHighest) return { status: 400, code: 'InvalidArgument' };
    return undefined;
  }

  /** Such a part is not stored, because MinIO keeps only the last. */
  #replacesPart({ method, url: { searchParams } }: S3Request): boolean {
    const parts = this.#parts.get(searchParams.get('uploadId') ?? '');
    const isRepeated = method === 'PUT' && parts?.has(Number(searchParams.get('partNumber')));
    return this.#hasHabit('keeps replaced parts') && isRepeated === true;
  }

  #isSecondWrite({ pathname, searchParams }: URL): boolean {
    if (searchParams.has('uploadId')) return false;
    const isSecond = this.#isNew(pathname);
    this.#writtenAt.set(pathname, performance.now());
    return isSecond && this.#hasHabit('refuses second writes');
  }

  #isForbiddenWrite({ pathname, searchParams }: URL): boolean {
    return this.#hasHabit('forbids second writes') && !searchParams.has('uploadId') && this.#isNew(pathname);
  }

  #isNew(pathname: string): boolean {
    return performance.now() - (this.#writtenAt.get(pathname) ?? Number.NEGATIVE_INFINITY) < secondMs;
  }

  #hasUnequalParts({ searchParams }: URL, completion: Buffer): boolean {
    const parts = this.#parts.get(searchParams.get('uploadId') ?? '');
    if (!this.#hasHabit('wants equal parts') || !parts) return false;
    const sizes = numbersOf(completion).map((number) => parts.get(number)?.size ?? 0);
    const last = sizes.pop() ?? 0;
    return new Set(sizes).size > 1 || last > (sizes[0] ?? last);
  }

  #change(request: S3Request): S3Request {
    const headers = { ...request.headers };
    if (this.#ignoresCondition(request)) delete headers['if-none-match'];
    if (this.#hasHabit('ignores ranges')) delete headers['range'];
    if (this.#hasHabit('ignores checksums')) {
      for (const name of Object.keys(headers)) if (/^x-amz-checksum|^content-md5$/.test(name)) delete headers[name];
    }
    let { body } = request;
    const parts = this.#parts.get(request.url.searchParams.get('uploadId') ?? '');
    if (request.method === 'POST' && parts) {
      let xml = body.toString();
      if (this.#hasHabit('ignores checksums')) xml = xml.replaceAll(/<ChecksumCRC32>[^<]*<\/ChecksumCRC32>/g, '');
      if (this.#hasHabit('joins replaced parts'))
        xml = xml.replaceAll(/<PartNumber>(\d+).*?<\/Part>/g, (_, n: string) => {
          const { etag = '', crc32 = '' } = parts.get(Number(n)) ?? {};
          const checksum = crc32 && `<ChecksumCRC32>${crc32}</ChecksumCRC32>`;
          return `<PartNumber>${n}</PartNumber><ETag>${etag}</ETag>${checksum}</Part>`;
        });
      body = Buffer.from(xml);
    }
    return { ...request, headers, body };
  }

  #ignoresCondition({ method, url, body }: S3Request): boolean {
    if (method === 'PUT' && body.length === 0 && this.#hasHabit('replaces objects by nothing')) return true;
    if (this.#joined.has(url.pathname) && this.#hasHabit('replaces joined objects')) return true;
    return this.#hasHabit('ignores conditions');
  }

  #answer({ method, url, headers: sent, body: written }: S3Request, answer: Answer): Answer {
    const uploadId = url.searchParams.get('uploadId') ?? '';
    if (method === 'PUT' && uploadId && answer.status === 200) this.#keepPart(url, written, answer.headers);
    const { status } = answer;
    let { body } = answer;
    let headers = this.#changeHeaders(answer, written);
    if (this.#confirmsNoChecksum(method, uploadId))
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('x-amz-checksum')));
    if (this.#hasHabit('ignores checksums'))
      body = Buffer.from(body.toString('latin1').replace(/<ChecksumCRC32>[^<]*<\/ChecksumCRC32>/, ''), 'latin1');
    const isRefusedChecksum = status === 400 && sent['x-amz-checksum-crc32'] !== undefined && method === 'PUT';
    if (this.#hasHabit('calls a wrong checksum a bad request') && isRefusedChecksum)
      return refused({ status: 400, code: 'BadRequest' });
    if (method === 'POST' && uploadId) body = this.#changeCompletion(uploadId, written, body);
    if (this.#hasHabit('has no empty lists') && url.searchParams.has('uploads') && method === 'GET')
      if (!body.includes('<Upload>')) return refused({ status: 404, code: 'NoSuchUpload' });
    return { status, headers, body };
  }

  #changeHeaders({ status, headers }: Answer, written: Buffer): IncomingHttpHeaders {
    if (status === 412 && this.#hasHabit('conflicts show refused bytes'))
      return { ...headers, etag: `"${md5Of([written]).toString('hex')}"` };
    const joined = headers['x-amz-checksum-crc32'];
    if (typeof joined === 'string' && this.#hasHabit('hides joined checksums'))
      return { ...headers, 'x-amz-checksum-crc32': joined.replace(/-\d+$/, '') };
    return headers;
  }

  #confirmsNoChecksum(method: string, uploadId: string): boolean {
    const isOfPart = method === 'PUT' && uploadId !== '';
    if (isOfPart && this.#hasHabit('confirms no checksums of parts')) return true;
    return this.#hasHabit('ignores checksums') || this.#hasHabit('refuses checksums');
  }

  #corrupt(request: S3Request): S3Request {
    if (this.#hasHabit('lists from the beginning')) request.url.searchParams.delete('start-after');
    if (this.#hasHabit('lists no folders')) request.url.searchParams.delete('delimiter');
    if (!this.#hasHabit('changes bytes') || request.method !== 'PUT' || request.body.length === 0) return request;
    const body = Buffer.from(request.body);
    body[0] = (body[0] ?? 0) ^ 1;
    return { ...request, body };
  }

  #spoil({ method, url }: S3Request, { status, headers, body }: Answer): Answer {
    const isList = url.searchParams.has('list-type');
    const isRemoval = method === 'DELETE' && status === 204 && this.#hasHabit('removals get 200');
    return {
      status: status === 412 && this.#hasHabit('responds with 304 to a write') ? 304 : isRemoval ? 200 : status,
      headers: this.#hasHabit('has another time') ? { ...headers, date: 'Mon, 30 Nov 2020 12:00:00 GMT' } : headers,
      body: isList ? this.#spoilList(url, body) : body,
    };
  }

  #spoilList(url: URL, list: Buffer): Buffer {
    if (this.#hasHabit('lists one page'))
      return Buffer.from(list.toString().replace('<IsTruncated>true<', '<IsTruncated>false<'));
    return this.#hasHabit('lists late') ? this.#withoutNew(url, list) : list;
  }

  #withoutNew({ pathname }: URL, list: Buffer): Buffer {
    const bucket = pathname.replace(/\/$/, '');
    return Buffer.from(
      list
        .toString()
        .replaceAll(/<Contents><Key>([^<]*)<.*?<\/Contents>/gs, (object, key: string) =>
          this.#isNew(`${bucket}/${decodeURIComponent(key)}`) ? '' : object,
        ),
    );
  }

  #changeCompletion(uploadId: string, completion: Buffer, response: Buffer): Buffer {
    let xml = response.toString();
    if (this.#hasHabit('joins checksums'))
      xml = xml.replace(/(?<=<ChecksumCRC32>)[^<]*/, this.#checksumOfAll(uploadId, completion).base64);
    if (this.#hasHabit('changes tags')) xml = xml.replace(/[0-9a-f]{32}(?=-\d)/, 'd41d8cd98f00b204e9800998ecf8427e');
    return Buffer.from(xml);
  }

  #checksumOfAll(uploadId: string, completion: Buffer): Checksum {
    const checksum = new Checksum();
    const parts = this.#parts.get(uploadId);
    for (const number of numbersOf(completion)) checksum.add(parts?.get(number)?.bytes ?? Buffer.alloc(0));
    return checksum;
  }

  #keepPart({ searchParams }: URL, bytes: Buffer, headers: IncomingHttpHeaders): void {
    const uploadId = searchParams.get('uploadId') ?? '';
    const parts = this.#parts.get(uploadId) ?? new Map();
    this.#parts.set(uploadId, parts);
    const crc32 = `${headers['x-amz-checksum-crc32'] ?? ''}`;
    const part = { size: bytes.length, etag: `${headers.etag}`, crc32 };
    parts.set(Number(searchParams.get('partNumber')), { ...part, ...(this.#hasHabit('joins checksums') && { bytes }) });
  }

  #hasHabit(habit: Habit | Fault): boolean {
    return this.#has.includes(habit);
  }
}

function isCompletion({ method, url }: Pick<S3Request, 'method' | 'url'>): boolean {
  return method === 'POST' && url.searchParams.has('uploadId');
}

/** The numbers of the parts of a completion. */
function numbersOf(completion: Buffer): number[] {
  return [...completion.toString().matchAll(/<PartNumber>(\d+)/g)].map(([, number]) => Number(number));
}

function refused({ status, code }: Refusal): Answer {
  const body = Buffer.from(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  return { status, headers: { 'content-type': 'application/xml' }, body };
}

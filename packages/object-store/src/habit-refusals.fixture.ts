import {
  type Answer,
  type HabitMemory,
  isCompletion,
  isConditionalWrite,
  numbersOf,
  refused,
  type S3Request,
} from './habit-memory.fixture.ts';

/** The requests that a store with habits refuses. */
export class HabitRefusals {
  readonly #memory: HabitMemory;

  constructor(memory: HabitMemory) {
    this.#memory = memory;
  }

  refuse(request: S3Request): Answer | undefined {
    return this.#forbid(request) ?? this.#refuse(request) ?? this.#refuseUnknownNames(request);
  }

  #forbid({ method, url }: S3Request): Answer | undefined {
    if (method === 'HEAD' && this.#memory.has('has lost its bucket')) return refused(404, 'NoSuchBucket');
    const isReadOfMedia = ['GET', 'HEAD'].includes(method) && /^\/[^/]+\/media\//.test(url.pathname);
    const isReadRefused = isReadOfMedia && this.#memory.has('refuses reads of media');
    const isRemovalRefused = method === 'DELETE' && this.#memory.has('refuses removals');
    const isListRefused = url.searchParams.has('list-type') && this.#memory.has('refuses lists');
    const isCompletionRefused = isCompletion({ method, url }) && this.#memory.has('refuses completions');
    if (method === 'PUT' && this.#memory.has('has a quota')) return refused(400, 'XMinioAdminBucketQuotaExceeded');
    const isRefused = isReadRefused || isRemovalRefused || isListRefused || isCompletionRefused;
    return isRefused ? refused(403, 'AccessDenied') : undefined;
  }

  #refuse({ method, url, headers, body }: S3Request): Answer | undefined {
    const hasChecksums = Object.keys(headers).some((name) => /^x-amz-(sdk-)?checksum/.test(name));
    if (this.#memory.has('refuses checksums') && hasChecksums) return refused(400, 'InvalidArgument');
    const refusal = isConditionalWrite({ method, headers }) ? this.#refuseCondition(url) : undefined;
    if (refusal) return refusal;
    if (method === 'PUT' && body.length === 0 && this.#memory.has('refuses empty objects'))
      return refused(411, 'MissingContentLength');
    if (method === 'PUT' && this.#isForbiddenWrite(url)) return refused(403, 'AccessDenied');
    if (method === 'PUT' && this.#isSecondWrite(url)) return refused(429, 'TooManyRequests');
    if (method === 'POST' && this.#hasUnequalParts(url, body)) return refused(400, 'InvalidPart');
    if (method === 'POST' && numbersOf(body).length > 1 && this.#memory.has('refuses several parts'))
      return refused(400, 'EntityTooSmall');
    return undefined;
  }

  #refuseCondition(url: URL): Answer | undefined {
    if (this.#memory.has('refuses conditions')) return refused(501, 'NotImplemented');
    const status = ([403, 405, 422, 500] as const).find((each) => this.#memory.has(`conditions get ${each}`));
    if (status !== undefined) return refused(status, `Condition${status}`);
    const isConcurrent = this.#memory.running.has(url.pathname);
    if (this.#memory.has('conflicts') && isConcurrent) return refused(409, 'ConditionalRequestConflict');
    if (this.#memory.has('refuses concurrent writes') && isConcurrent) return refused(429, 'TooManyRequests');
    return undefined;
  }

  /** Headers, elements and parameters that a store may not know. */
  #refuseUnknownNames({ url, headers, body }: S3Request): Answer | undefined {
    const isAnnounced = headers['x-amz-checksum-algorithm'] !== undefined;
    if (this.#memory.has('refuses announced checksums') && isAnnounced) return refused(400, 'InvalidRequest');
    const isNamed = body.includes('<ChecksumCRC32>');
    if (this.#memory.has('refuses checksums in completions') && isNamed) return refused(400, 'MalformedXML');
    const has = (name: string) => url.searchParams.has(name);
    const isNeedless = has('max-uploads') || (has('start-after') && has('continuation-token'));
    if (this.#memory.has('refuses needless parameters') && isNeedless) return refused(400, 'InvalidArgument');
    const isHighest = url.searchParams.get('start-after')?.endsWith('\u{10ffff}') === true;
    if (this.#memory.has('refuses the highest character') && isHighest) return refused(400, 'InvalidArgument');
    return undefined;
  }

  #isSecondWrite({ pathname, searchParams }: URL): boolean {
    if (searchParams.has('uploadId')) return false;
    const isSecond = this.#memory.isNew(pathname);
    this.#memory.addWrite(pathname);
    return isSecond && this.#memory.has('refuses second writes');
  }

  #isForbiddenWrite({ pathname, searchParams }: URL): boolean {
    return this.#memory.has('forbids second writes') && !searchParams.has('uploadId') && this.#memory.isNew(pathname);
  }

  #hasUnequalParts(url: URL, completion: Buffer): boolean {
    const parts = this.#memory.partsOf(url);
    if (!this.#memory.has('wants equal parts') || !parts) return false;
    const sizes = numbersOf(completion).map((number) => parts.get(number)?.size ?? 0);
    const last = sizes.pop() ?? 0;
    return new Set(sizes).size > 1 || last > (sizes[0] ?? last);
  }
}

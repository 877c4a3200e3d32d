import { HabitChanges } from './habit-changes.fixture.ts';
import {
  type Answer,
  HabitMemory,
  isCompletion,
  isConditionalWrite,
  refused,
  type S3Request,
} from './habit-memory.fixture.ts';
import { HabitRefusals } from './habit-refusals.fixture.ts';
import type { Fault, Habit } from './habits.fixture.ts';
import { md5Of } from './s3/write-rules.ts';

type Forward = (request: S3Request) => Promise<Answer>;

/** Responds to requests as a store with habits does. `has` may change. */
export class HabitState {
  readonly #memory: HabitMemory;
  readonly #refusals: HabitRefusals;
  readonly #changes: HabitChanges;
  readonly #raced = new Set<string>();
  #isRaceSpoilt = false;
  /** Multipart uploads with a first completion. */
  readonly #completed = new Set<string>();

  constructor(has: readonly (Habit | Fault)[]) {
    this.#memory = new HabitMemory(has);
    this.#refusals = new HabitRefusals(this.#memory);
    this.#changes = new HabitChanges(this.#memory);
  }

  async pass(request: S3Request, forward: Forward): Promise<Answer> {
    const { url, headers, body } = request;
    if (this.#memory.has('is away')) throw new Error('no response');
    const refusal = this.#refusals.refuse(request);
    if (refusal) return refusal;
    const isFirstRace = this.#isFirstRace(request);
    if (isFirstRace && this.#memory.has('loses the first response of a race')) throw new Error('a lost response');
    if (isFirstRace && this.#memory.has('answers the first race with 429')) return refused(429, 'TooManyRequests');
    if (isCompletion(request)) return this.#complete(request, forward);
    if (this.#replacesPart(request) || (isFirstRace && this.#memory.has('both writes of the first race win'))) {
      const etag = `"${md5Of([body]).toString('hex')}"`;
      const crc32 = headers['x-amz-checksum-crc32'];
      return { status: 200, headers: { etag, 'x-amz-checksum-crc32': crc32 }, body: Buffer.alloc(0) };
    }
    const isConditional = isConditionalWrite(request);
    if (isConditional) this.#memory.running.add(url.pathname);
    try {
      const answer = await forward(this.#changes.changeRequest(request));
      return this.#changes.changeResponse(request, answer);
    } finally {
      if (isConditional) this.#memory.running.delete(url.pathname);
    }
  }

  /** Whether this is the first second conditional write of an object: the two are a race. */
  #isFirstRace(request: S3Request): boolean {
    if (!isConditionalWrite(request) || this.#isRaceSpoilt) return false;
    const { pathname } = request.url;
    this.#isRaceSpoilt = this.#raced.has(pathname);
    this.#raced.add(pathname);
    return this.#isRaceSpoilt;
  }

  async #complete(request: S3Request, forward: Forward): Promise<Answer> {
    const uploadId = request.url.searchParams.get('uploadId') ?? '';
    const isFirst = !this.#completed.has(uploadId);
    this.#completed.add(uploadId);
    const isFailed = isFirst && this.#memory.has('fails after status 200 of each first completion');
    if (isFailed || this.#memory.has('fails after status 200 of each completion')) return refused(200, 'InternalError');
    const answer = await forward(this.#changes.changeRequest(request));
    if (answer.status === 200) this.#memory.joined.add(request.url.pathname);
    if (this.#memory.has('does not answer completions')) await new Promise(() => {});
    if (isFirst && this.#memory.has('loses the first response of each completion')) throw new Error('a lost response');
    if (isFirst && this.#memory.has('cuts off the first response of each completion'))
      return { ...answer, body: Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n  ') };
    return this.#changes.changeResponse(request, answer);
  }

  /** Such a part is not stored, because MinIO keeps only the last. */
  #replacesPart({ method, url }: S3Request): boolean {
    const isRepeated = method === 'PUT' && this.#memory.partsOf(url)?.has(Number(url.searchParams.get('partNumber')));
    return this.#memory.has('keeps replaced parts') && isRepeated === true;
  }
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Fault, Habit } from './habits.fixture.ts';

export interface S3Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer };

interface SentPart {
  readonly size: number;
  readonly etag: string;
  readonly crc32: string;
  /** Only for the habit that needs them. */
  readonly bytes?: Buffer;
}

const secondMs = 1000;

/** The habits of a proxy, which may change, and what it has seen. */
export class HabitMemory {
  readonly #has: readonly (Habit | Fault)[];
  readonly #writtenAt = new Map<string, number>();
  /** The parts of each multipart upload, by number. */
  readonly #parts = new Map<string, Map<number, SentPart>>();
  /** Paths of objects whose parts were joined. */
  readonly joined = new Set<string>();
  /** Paths of objects to which a conditional write runs. */
  readonly running = new Set<string>();

  constructor(has: readonly (Habit | Fault)[]) {
    this.#has = has;
  }

  has(habit: Habit | Fault): boolean {
    return this.#has.includes(habit);
  }

  /** Whether an object was written within the last second. */
  isNew(pathname: string): boolean {
    return performance.now() - (this.#writtenAt.get(pathname) ?? Number.NEGATIVE_INFINITY) < secondMs;
  }

  addWrite(pathname: string): void {
    this.#writtenAt.set(pathname, performance.now());
  }

  /** The parts of the multipart upload of a request; undefined if there are none. */
  partsOf({ searchParams }: URL): ReadonlyMap<number, SentPart> | undefined {
    return this.#parts.get(searchParams.get('uploadId') ?? '');
  }

  addPart({ searchParams }: URL, bytes: Buffer, headers: IncomingHttpHeaders): void {
    const uploadId = searchParams.get('uploadId') ?? '';
    const parts = this.#parts.get(uploadId) ?? new Map();
    this.#parts.set(uploadId, parts);
    const crc32 = `${headers['x-amz-checksum-crc32'] ?? ''}`;
    const part = { size: bytes.length, etag: `${headers.etag}`, crc32 };
    parts.set(Number(searchParams.get('partNumber')), { ...part, ...(this.has('joins checksums') && { bytes }) });
  }
}

export function isConditionalWrite({ method, headers }: Pick<S3Request, 'method' | 'headers'>): boolean {
  return method === 'PUT' && headers['if-none-match'] !== undefined;
}

export function isCompletion({ method, url }: Pick<S3Request, 'method' | 'url'>): boolean {
  return method === 'POST' && url.searchParams.has('uploadId');
}

/** The numbers of the parts of a completion. */
export function numbersOf(completion: Buffer): number[] {
  return [...completion.toString().matchAll(/<PartNumber>(\d+)/g)].map(([, number]) => Number(number));
}

export function refused(status: number, code: string): Answer {
  const body = Buffer.from(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  return { status, headers: { 'content-type': 'application/xml' }, body };
}

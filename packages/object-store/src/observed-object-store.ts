import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { inSpan, type SpanAttributes } from '@echodrop/service/tracing/trace';
import type {
  ListedObject,
  ObjectReading,
  ObjectStore,
  PutIfAbsentOutcome,
  PutOptions,
  ReadOptions,
  StoredObject,
  UnfinishedWrite,
  WrittenObject,
} from './object-store.ts';

/** A call of the store; `read` ends where the bytes begin, and `read_body` is the time in which they come. */
export interface StoreCall {
  readonly operation: (typeof storeOperations)[number];
  /** The object's key, or the prefix of a list. */
  readonly key?: string;
}

export const storeOperations = [
  'put',
  'put_if_absent',
  'read',
  'read_body',
  'stat',
  'list',
  'remove',
  'ready',
] as const;

/** Runs `run`, once, and gives or throws what it does: whoever watches a store measures in here, or opens a span. */
export type Observe = <T>(call: StoreCall, run: () => Promise<T>) => Promise<T>;

/** A store of whose calls `observe` learns, each a span of the trace that runs, but for those that only the sweeper makes. It owns `store`. */
export class ObservedObjectStore implements ObjectStore {
  readonly #store: ObjectStore;
  readonly #observe: Observe;

  constructor(store: ObjectStore, observe: Observe) {
    this.#store = store;
    this.#observe = (call, run) => inSpan(`store ${call.operation}`, 'client', factsOf(call), () => observe(call, run));
  }

  put(key: string, source: Readable, options?: PutOptions): Promise<WrittenObject> {
    return this.#observe({ operation: 'put', key }, () => this.#store.put(key, source, options));
  }

  putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    return this.#observe({ operation: 'put_if_absent', key }, () => this.#store.putIfAbsent(key, bytes));
  }

  async read(key: string, options?: ReadOptions): Promise<ObjectReading | undefined> {
    const reading = await this.#observe({ operation: 'read', key }, () => this.#store.read(key, options));
    // The reader learns of what goes wrong from the body itself.
    if (reading) this.#observe({ operation: 'read_body', key }, () => finished(reading.body)).catch(() => {});
    return reading;
  }

  stat(key: string): Promise<StoredObject | undefined> {
    return this.#observe({ operation: 'stat', key }, () => this.#store.stat(key));
  }

  supportsChecksums(): Promise<boolean> {
    return this.#store.supportsChecksums();
  }

  exists(key: string): Promise<boolean> {
    return this.#observe({ operation: 'stat', key }, () => this.#store.exists(key));
  }

  list(prefix: string, page: { after?: string | undefined; limit: number }): Promise<ListedObject[]> {
    return this.#observe({ operation: 'list', key: prefix }, () => this.#store.list(prefix, page));
  }

  remove(key: string): Promise<void> {
    return this.#observe({ operation: 'remove', key }, () => this.#store.remove(key));
  }

  unfinished(): AsyncIterable<UnfinishedWrite> {
    return this.#store.unfinished();
  }

  abandon(write: UnfinishedWrite): Promise<void> {
    return this.#store.abandon(write);
  }

  clock(): Promise<Date> {
    return this.#store.clock();
  }

  ready(): Promise<void> {
    return this.#observe({ operation: 'ready' }, () => this.#store.ready());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}

// What lies below which key is told by its first word; of what is listed by user the second is a user's.
function factsOf({ key }: StoreCall): SpanAttributes {
  return key === undefined ? {} : { 'echodrop.object.kind': key.slice(0, key.indexOf('/')) };
}

import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { inSpan, setSpanAttributes } from '@echodrop/service/tracing/trace';
import {
  CrowdedOut,
  type ListedObject,
  type ObjectReading,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutOptions,
  type ReadOptions,
  type StoredObject,
  StoreUnavailable,
  type UnfinishedWrite,
  type WrittenObject,
} from './object-store.ts';

const operations = ['put', 'put_if_absent', 'read', 'read_body', 'stat', 'list', 'remove', 'ready'] as const;

type Operation = (typeof operations)[number];

/**
 * `absent` (no such object) and `exists` (a conflict) are results. Not the store's fault are `crowded_out` (faster uploads needed the
 * memory) and `broken_off` (the caller or the source ended the call).
 */
type Outcome = 'ok' | 'absent' | 'exists' | 'unavailable' | 'crowded_out' | 'broken_off';

const buckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 300];

/**
 * Measures and traces the calls of `store`, which it owns, except those that only the sweeper makes. `read` ends when the body
 * begins, `read_body` when the body ends; `put` takes as long as its source.
 */
export class ObservedObjectStore implements ObjectStore {
  readonly #store: ObjectStore;
  readonly #seconds;

  constructor(store: ObjectStore, metrics: Metrics) {
    this.#store = store;
    this.#seconds = metrics.histogram(
      'echodrop_store_call_seconds',
      'Object store call duration by operation and outcome.',
      ['operation', 'outcome'],
      buckets,
    );
    // Alerts see the first failure as an increase.
    for (const operation of operations) this.#seconds.zero({ operation, outcome: 'unavailable' });
  }

  put(key: string, source: Readable, options?: PutOptions): Promise<WrittenObject> {
    return this.#observe('put', key, () => this.#store.put(key, source, options));
  }

  putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    return this.#observe('put_if_absent', key, () => this.#store.putIfAbsent(key, bytes));
  }

  async read(key: string, options?: ReadOptions): Promise<ObjectReading | undefined> {
    const reading = await this.#observe('read', key, () => this.#store.read(key, options));
    // The reader gets errors from the body itself.
    if (reading) this.#observe('read_body', key, () => finished(reading.body)).catch(() => {});
    return reading;
  }

  stat(key: string): Promise<StoredObject | undefined> {
    return this.#observe('stat', key, () => this.#store.stat(key));
  }

  supportsChecksums(): Promise<boolean> {
    return this.#store.supportsChecksums();
  }

  exists(key: string): Promise<boolean> {
    return this.#observe('stat', key, () => this.#store.exists(key));
  }

  list(prefix: string, page: { after?: string | undefined; limit: number }): Promise<ListedObject[]> {
    return this.#observe('list', prefix, () => this.#store.list(prefix, page));
  }

  remove(key: string): Promise<void> {
    return this.#observe('remove', key, () => this.#store.remove(key));
  }

  listUnfinishedWrites(): AsyncIterable<UnfinishedWrite> {
    return this.#store.listUnfinishedWrites();
  }

  abortWrite(write: UnfinishedWrite): Promise<void> {
    return this.#store.abortWrite(write);
  }

  clock(): Promise<Date> {
    return this.#store.clock();
  }

  ready(): Promise<void> {
    return this.#observe('ready', undefined, () => this.#store.ready());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }

  #observe<T>(operation: Operation, key: string | undefined, run: () => Promise<T>): Promise<T> {
    // The first segment is the kind of object. The second may identify a user.
    const attributes = key === undefined ? {} : { 'echodrop.object.kind': key.slice(0, key.indexOf('/')) };
    return inSpan(`store ${operation}`, 'client', attributes, () => this.#measure(operation, run));
  }

  async #measure<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const record = (outcome: Outcome) => {
      this.#seconds.observe({ operation, outcome }, (performance.now() - started) / 1000);
      setSpanAttributes({ 'echodrop.outcome': outcome });
    };
    try {
      const result = await run();
      record(outcomeOf(operation, result));
      return result;
    } catch (error) {
      record(failureOf(error));
      throw error;
    }
  }
}

function outcomeOf(operation: Operation, result: unknown): Outcome {
  if (result === 'exists') return 'exists';
  return result === undefined && (operation === 'read' || operation === 'stat') ? 'absent' : 'ok';
}

function failureOf(error: unknown): Outcome {
  if (error instanceof CrowdedOut) return 'crowded_out';
  return error instanceof StoreUnavailable ? 'unavailable' : 'broken_off';
}

import { finished } from 'node:stream/promises';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { inSpan, setSpanAttributes } from '@echodrop/service/tracing/trace';
import { CrowdedOut, type ObjectStore, StoreUnavailable } from './object-store.ts';

const operations = [
  'put',
  'append',
  'complete',
  'discard',
  'put_if_absent',
  'commit',
  'read',
  'read_body',
  'stat',
  'list',
  'remove',
  'ready',
] as const;

type Operation = (typeof operations)[number];

/**
 * `absent` (no such object) and `exists` (a conflict) are results. Not the store's fault are `crowded_out` (faster uploads needed the
 * memory) and `aborted` (the caller or the source ended the call).
 */
type Outcome = 'ok' | 'absent' | 'exists' | 'differs' | 'unavailable' | 'crowded_out' | 'aborted';

const buckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 300];

/**
 * Measures and traces the calls of `store`, except those that only the sweeper makes. `read` ends when the body begins, `read_body` when
 * the body ends; `put` and `append` take as long as their source. Disposing disposes `store`.
 */
export function observeStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const observe = createObserver(metrics);
  return {
    rereadMs: store.rereadMs,
    put: (key, ...rest) => observe('put', key, () => store.put(key, ...rest)),
    append: (write, ...rest) => observe('append', write.key, () => store.append(write, ...rest)),
    completeWrite: (write, sender) => observe('complete', write.key, () => store.completeWrite(write, sender)),
    discardWrite: (write) => observe('discard', write.key, () => store.discardWrite(write)),
    putIfAbsent: (key, bytes) => observe('put_if_absent', key, () => store.putIfAbsent(key, bytes)),
    commit: (key, bytes, beforeWrite) => observe('commit', key, () => store.commit(key, bytes, beforeWrite)),
    async read(key, options) {
      const reading = await observe('read', key, () => store.read(key, options));
      // The reader of the body gets its errors.
      if (reading) observe('read_body', key, () => finished(reading.body)).catch(() => {});
      return reading;
    },
    stat: (key) => observe('stat', key, () => store.stat(key)),
    exists: (key) => observe('stat', key, () => store.exists(key)),
    list: (prefix, page) => observe('list', prefix, () => store.list(prefix, page)),
    listKeys: (prefix, page) => observe('list', prefix, () => store.listKeys(prefix, page)),
    remove: (key) => observe('remove', key, () => store.remove(key)),
    ready: () => observe('ready', undefined, () => store.ready()),
    probe: (options) => store.probe(options),
    listUnfinishedWrites: () => store.listUnfinishedWrites(),
    abortWrite: (write) => store.abortWrite(write),
    clock: () => store.clock(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function createObserver(metrics: Metrics) {
  const seconds = metrics.histogram(
    'echodrop_store_call_seconds',
    'Object store call duration by operation and outcome. read: until the body starts; read_body: the body; ready: health check.',
    ['operation', 'outcome'],
    buckets,
  );
  // Alerts see the first failure as an increase.
  for (const operation of operations) seconds.zero({ operation, outcome: 'unavailable' });
  async function measure<T>(operation: Operation, run: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const record = (outcome: Outcome) => {
      seconds.observe({ operation, outcome }, (performance.now() - started) / 1000);
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
  return <T>(operation: Operation, key: string | undefined, run: () => Promise<T>): Promise<T> => {
    // The first segment is the kind of object. The second may identify a user.
    const attributes = key === undefined ? {} : { 'echodrop.object.kind': key.slice(0, key.indexOf('/')) };
    return inSpan(`store ${operation}`, 'client', attributes, () => measure(operation, run));
  };
}

function outcomeOf(operation: Operation, result: unknown): Outcome {
  if (result === 'exists' || result === 'differs') return result;
  return result === undefined && (operation === 'read' || operation === 'stat') ? 'absent' : 'ok';
}

function failureOf(error: unknown): Outcome {
  if (error instanceof CrowdedOut) return 'crowded_out';
  return error instanceof StoreUnavailable ? 'unavailable' : 'aborted';
}

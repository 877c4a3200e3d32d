import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';
import { CrowdedOut, StoreUnavailable } from './object-store.ts';
import { type Observe, storeOperations } from './observed-object-store.ts';

/**
 * How a call ended: `absent` is an answer (no such object), `exists` too (a clash). Not the store's fault are `crowded_out` (memory was needed by
 * faster uploads) and `broken_off` (its caller, or the source that was to be stored, ended it).
 */
type Outcome = 'ok' | 'absent' | 'exists' | 'unavailable' | 'crowded_out' | 'broken_off';

const buckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 300];

/** Tells of every call how long it took, by operation and outcome. A `put` takes as long as its source. */
export function registerStoreMetrics(metrics: Metrics): Observe {
  const calls = metrics.histogram(
    'echodrop_store_call_seconds',
    'Object store call duration by operation and outcome.',
    ['operation', 'outcome'],
    buckets,
  );
  // So that the first failure is seen as an increase.
  for (const operation of storeOperations) calls.zero({ operation, outcome: 'unavailable' });
  return async ({ operation }, run) => {
    const started = performance.now();
    const ended = (outcome: Outcome) => {
      calls.observe({ operation, outcome }, (performance.now() - started) / 1000);
      setSpanAttributes({ 'echodrop.outcome': outcome });
    };
    try {
      const given = await run();
      ended(outcomeOf(operation, given));
      return given;
    } catch (error) {
      ended(failureOf(error));
      throw error;
    }
  };
}

function outcomeOf(operation: string, given: unknown): Outcome {
  if (given === 'exists') return 'exists';
  return given === undefined && (operation === 'read' || operation === 'stat') ? 'absent' : 'ok';
}

function failureOf(error: unknown): Outcome {
  if (error instanceof CrowdedOut) return 'crowded_out';
  return error instanceof StoreUnavailable ? 'unavailable' : 'broken_off';
}

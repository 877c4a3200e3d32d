import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { Log } from '../log.ts';
import type { ProcessSettings } from '../process-settings.ts';

type TraceSettings = Pick<ProcessSettings, 'OTEL_EXPORTER_OTLP_ENDPOINT'>;

/** Adds trace ids to log lines, and exports spans if OTEL_EXPORTER_OTLP_ENDPOINT is set. Disposing flushes for 2 s. */
export async function startTracing(service: string, settings: TraceSettings, log: Log): Promise<AsyncDisposable> {
  const resources = new AsyncDisposableStack();
  if (settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) {
    const { exportTraces } = await import('./export-traces.ts');
    resources.use(exportTraces(service, log));
  }
  // Has no effect if the SDK has set its own; with OTEL_SDK_DISABLED it has not.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return resources;
}

import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { Log } from '../log.ts';
import type { ProcessSettings } from '../process-settings.ts';

type TraceSettings = Pick<ProcessSettings, 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_PROTOCOL'>;

/**
 * Begins to keep traces, of which log lines name the ids, and to export them where the settings say to whom; only then is the SDK
 * loaded. Disposing sends what is left, for two seconds at most.
 */
export async function startTracing(service: string, settings: TraceSettings, log: Log): Promise<AsyncDisposable> {
  const parts = new AsyncDisposableStack();
  if (settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) {
    const { exportTraces } = await import('./export-traces.ts');
    parts.use(await exportTraces(service, settings.OTEL_EXPORTER_OTLP_PROTOCOL, log));
  }
  // The SDK has brought one of its own, and keeps it, unless it was told to do nothing (OTEL_SDK_DISABLED).
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return parts;
}

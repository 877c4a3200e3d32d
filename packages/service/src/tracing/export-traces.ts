import { setTimeout as sleep } from 'node:timers/promises';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { envDetector, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import type { Log } from '../log.ts';
import { enableSpanExport } from './trace.ts';

type SpanExporter = NodeSDKConfiguration['traceExporter'];

const leftoversMs = 2000;

/**
 * Starts OpenTelemetry's SDK for traces alone. It reads its standard variables itself (sampler, headers, time limits, sizes of batches);
 * the name of the service is ours. What cannot be delivered waits in memory, 2048 spans unless said, and beyond that is dropped.
 */
export async function exportTraces(
  service: string,
  protocol: 'http/protobuf' | 'http/json',
  log: Log,
): Promise<AsyncDisposable> {
  // Only what it says of its variables: later messages would repeat ours, and some hold what they are about.
  const told = (reason: string) => log.warn({ reason }, 'Ignored a tracing setting');
  diag.setLogger({ error: told, warn() {}, info() {}, debug() {}, verbose() {} }, DiagLogLevel.ERROR);
  const sdk = new NodeSDK({
    serviceName: service,
    traceExporter: tellingOfLosses(await exporter(protocol), log),
    textMapPropagator: null,
    // Those of the process and the host would tell its arguments and its user.
    resourceDetectors: [envDetector, serviceInstanceIdDetector],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  enableSpanExport();
  diag.disable();
  return {
    async [Symbol.asyncDispose]() {
      // What is left when the time is over is lost; it was told.
      await Promise.race([sdk.shutdown().catch(() => {}), sleep(leftoversMs, undefined, { ref: false })]);
    },
  };
}

async function exporter(protocol: 'http/protobuf' | 'http/json'): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** Tells once when Failed to export traces, and once when they can again; neither is the SDK's to tell then. */
function tellingOfLosses(exporter: SpanExporter, log: Log): SpanExporter {
  let isLosing = false;
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        const isLost = code !== 0;
        if (isLost && !isLosing) log.warn({ reason: reasonOf(error) }, 'Failed to export traces');
        if (!isLost && isLosing) log.info('Trace export recovered');
        isLosing = isLost;
        done({ code: 0 });
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

// A connection that fails on several addresses says nothing itself.
function reasonOf(error: Error | undefined): string {
  const code = error && 'code' in error ? String(error.code) : '';
  return [error?.message, code].filter(Boolean).join(' ') || 'unknown';
}

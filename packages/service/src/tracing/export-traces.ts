import { setTimeout as sleep } from 'node:timers/promises';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { envDetector, serviceInstanceIdDetector } from '@opentelemetry/resources';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import type { Log } from '../log.ts';
import { Outages } from '../outages.ts';
import { enableSpanExport } from './trace.ts';

type SpanExporter = NodeSDKConfiguration['traceExporter'];

const flushMs = 2000;

/**
 * Starts OpenTelemetry's SDK for traces. It reads its standard variables itself (sampler, headers, timeouts, batch sizes) except the
 * service name. It buffers 2048 undelivered spans by default and drops more.
 */
export function exportTraces(service: string, log: Log): AsyncDisposable {
  // Logs only problems with its variables: later messages would repeat ours or contain data.
  const warn = (reason: string) => log.warn({ reason }, 'Ignored a tracing setting');
  diag.setLogger({ error: warn, warn() {}, info() {}, debug() {}, verbose() {} }, DiagLogLevel.ERROR);
  const sdk = new NodeSDK({
    serviceName: service,
    traceExporter: loggingFailures(new OTLPTraceExporter(), log),
    textMapPropagator: null,
    // The detectors for process and host would export arguments and user.
    resourceDetectors: [envDetector, serviceInstanceIdDetector],
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  enableSpanExport();
  diag.disable();
  return {
    async [Symbol.asyncDispose]() {
      // Drops the rest after the timeout.
      await Promise.race([sdk.shutdown().catch(() => {}), sleep(flushMs, undefined, { ref: false })]);
    },
  };
}

/** Logs the first failed and the first successful export; hides failures from the SDK, which would log each. */
function loggingFailures(exporter: SpanExporter, log: Log): SpanExporter {
  const outages = new Outages(log, { begin: 'Failed to export traces', end: 'Trace export recovered', maxReasons: 1 });
  return {
    export(spans, done) {
      exporter.export(spans, ({ code, error }) => {
        if (code === 0) outages.end('');
        else outages.report('', error);
        done({ code: 0 });
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '@echodrop/testkit/servers/listen';
import { expect, test } from 'vitest';

const traceId = '0af7651916cd43dd8448eb211c80319c';

interface Traced {
  /** The OpenTelemetry packages that it loaded. */
  readonly packages: string[];
  /** The logged trace id. */
  readonly trace: string | undefined;
  /** Other log lines. */
  readonly log: string[];
  /** Duration of the shutdown. */
  readonly stopMs: number;
}

/** Runs a process that creates a span and stops. */
function runTraced(env: Record<string, string>): Traced {
  const from = (file: string) => JSON.stringify(join(import.meta.dirname, file));
  const program = `
    import { registerHooks } from 'node:module';
    const packages = new Set();
    registerHooks({ load(url, context, next) {
      const [, name] = /node_modules\\/@opentelemetry\\/([\\w-]+)\\/(?!.*node_modules)/.exec(url) ?? [];
      if (name) packages.add(name);
      return next(url, context);
    } });
    const { readSettings } = await import(${from('../env.ts')});
    const { processSettings } = await import(${from('../process-settings.ts')});
    const { createLog } = await import(${from('../log.ts')});
    const { startTracing } = await import(${from('start-tracing.ts')});
    const { continueTrace, inSpan } = await import(${from('trace.ts')});
    const log = createLog('sample', 'info');
    const tracing = await startTracing('sample', readSettings(processSettings(0), process.env), log);
    const given = '00-${traceId}-b7ad6b7169203331-01';
    await continueTrace(given, () => inSpan('query', 'client', {}, async () => log.info('sent')));
    const begun = performance.now();
    await tracing[Symbol.asyncDispose]();
    log.info({ packages: [...packages], stopMs: performance.now() - begun }, 'stopped');
    process.exit();`;
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env,
    stdio: 'pipe',
  });
  const lines: { msg: string; reason?: string; trace_id?: string; packages: string[]; stopMs: number }[] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return {
    packages: lines.at(-1)?.packages ?? [],
    stopMs: lines.at(-1)?.stopMs ?? Number.NaN,
    trace: lines.find(({ msg }) => msg === 'sent')?.trace_id,
    log: lines.flatMap(({ msg, reason }) => (reason === undefined ? [] : `${msg}: ${reason}`)),
  };
}

test('loads the SDK only with a collector', () => {
  const { packages, trace } = runTraced({});
  expect(packages.toSorted()).toEqual(['api', 'context-async-hooks']);
  expect(trace).toBe(traceId);
});

test('supports OTEL_SDK_DISABLED', () => {
  const { trace } = runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' });
  expect(trace).toBe(traceId);
});

test('a hanging collector delays a shutdown by two seconds', async () => {
  // It never responds.
  await using collector = await listen(createServer(() => {}));
  const minutes = '300000';
  const { packages, log, stopMs } = runTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    OTEL_EXPORTER_OTLP_TIMEOUT: minutes,
    OTEL_BSP_EXPORT_TIMEOUT: minutes,
  });
  expect(stopMs).toBeLessThan(60_000);
  expect(packages).toEqual(expect.arrayContaining(['sdk-node', 'exporter-trace-otlp-proto']));
  expect(log).toEqual([]);
});

test('an unreachable collector is logged once', () => {
  const { log } = runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '100' });
  expect(log).toEqual([expect.stringMatching(/^Failed to export traces: .*ECONNREFUSED/)]);
});

test('logs settings that the SDK rejects', () => {
  const { log } = runTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_TRACES_SAMPLER: 'sometimes',
  });
  expect(log[0]).toContain('Ignored a tracing setting: unknown OTEL_TRACES_SAMPLER');
});

test('rejects an invalid collector address', () => {
  expect(() => runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an http(s) address',
  );
});

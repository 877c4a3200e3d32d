import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const traceId = '0af7651916cd43dd8448eb211c80319c';

/** Which of OpenTelemetry's packages a process of its own has loaded that makes a span and stops, which trace its line of the span names, and what else it wrote. */
function traced(env: Record<string, string>): { packages: string[]; trace: string | undefined; log: string[] } {
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
    await continueTrace(given, () => inSpan('ask', 'client', {}, async () => log.info('asked')));
    await tracing[Symbol.asyncDispose]();
    log.info({ packages: [...packages] }, 'stopped');
    process.exit();`;
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env,
    stdio: 'pipe',
  });
  const lines: { msg: string; reason?: string; trace_id?: string; packages: string[] }[] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return {
    packages: lines.at(-1)?.packages ?? [],
    trace: lines.find(({ msg }) => msg === 'asked')?.trace_id,
    log: lines.flatMap(({ msg, reason }) => (reason === undefined ? [] : `${msg}: ${reason}`)),
  };
}

/** The address of a server that takes connections and never answers while a test waits for a process. */
async function hanging(): Promise<AsyncDisposable & { address: string }> {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

test('the SDK is loaded only where somebody collects', () => {
  const { packages, trace } = traced({});
  expect(packages.toSorted()).toEqual(['api', 'context-async-hooks']);
  expect(trace).toBe(traceId);
});

test('the SDK may be told to do nothing', () => {
  const { trace } = traced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' });
  expect(trace).toBe(traceId);
});

test('who collects and hangs holds up a stop for two seconds', async () => {
  await using collector = await hanging();
  const begun = performance.now();
  const { packages, log } = traced({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.address });
  expect(performance.now() - begun).toBeLessThan(8000);
  expect(packages).toEqual(expect.arrayContaining(['sdk-node', 'exporter-trace-otlp-proto']));
  expect(log).toEqual([]);
});

test('who collects and refuses is told of once', () => {
  const { log } = traced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '100' });
  expect(log).toEqual([expect.stringMatching(/^Failed to export traces: .*ECONNREFUSED/)]);
});

test('a setting that only the SDK reads, and does not understand, is told', () => {
  const { log } = traced({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_SAMPLER: 'sometimes',
  });
  expect(log[0]).toContain('Ignored a tracing setting: unknown OTEL_TRACES_SAMPLER');
});

test('an address that is none is a fault', () => {
  expect(() => traced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
    /OTEL_EXPORTER_OTLP_ENDPOINT must be an http\(s\) address\s+.*OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/protobuf, http\/json/,
  );
});

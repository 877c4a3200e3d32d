import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import { listen } from '@echodrop/testkit/servers/listen';
import { context, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readSettings } from '../env.ts';
import { createLog } from '../log.ts';
import { processSettings } from '../process-settings.ts';
import { startTracing } from './start-tracing.ts';
import { bindTrace, continueTrace, inSpan, traceLogFields, traceparent, traceRequests } from './trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const given = `00-${traceId}-b7ad6b7169203331-00`;

beforeAll(async () => {
  await startTracing('sample', readSettings(processSettings(0), {}), createLog('sample', 'silent'));
});
afterAll(() => context.disable());

test('continues a trace without a collector', async () => {
  const seen = await continueTrace(given, () =>
    inSpan('query', 'client', {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return [traceparent(), traceLogFields()];
    }),
  );
  expect(seen).toEqual([given, { trace_id: traceId }]);
  expect([traceparent(), traceLogFields()]).toEqual([undefined, {}]);
});

test('creates no span without a collector', async () => {
  const begun = vi.spyOn(trace, 'getTracer');
  expect(await continueTrace(given, () => inSpan('query', 'client', {}, async () => 'reply'))).toBe('reply');
  expect(begun).not.toHaveBeenCalled();
});

test.each([
  undefined,
  '',
  'undefined',
  `${given}-more`,
  given.replace('00-', '01-'),
  given.replace(traceId, '0'.repeat(32)),
  given.replace('b7ad6b7169203331', '0'.repeat(16)),
  given.toUpperCase(),
])('%s is not a trace', (named) => {
  continueTrace(given, () => continueTrace(named, () => expect(traceparent()).toBeUndefined()));
});

test('every request starts a new trace, whatever its headers', async () => {
  const traces: (string | undefined)[] = [];
  const server = createServer(
    traceRequests(async (_, response) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      traces.push(traceparent());
      response.end();
    }),
  );
  await using listening = await listen(server);
  for (let n = 0; n < 2; n++) await fetch(listening.origin, { headers: { traceparent: given } });
  for (const each of traces) expect(each).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
  expect(new Set([...traces, given]).size).toBe(3);
});

test('bindTrace keeps the current trace', () => {
  const events = new EventEmitter();
  const heard: unknown[] = [];
  continueTrace(given, () => {
    events.once('end', () => heard.push(traceLogFields()));
    events.once(
      'end',
      bindTrace(() => heard.push(traceLogFields())),
    );
  });
  events.emit('end');
  expect(heard).toEqual([{}, { trace_id: traceId }]);
});

test('an error in a span is thrown unchanged', async () => {
  const fault = new Error('no store');
  const failing = async () => {
    throw fault;
  };
  await expect(inSpan('query', 'client', {}, failing)).rejects.toBe(fault);
  await expect(continueTrace(given, () => inSpan('query', 'client', {}, failing))).rejects.toBe(fault);
});

import { listen } from '@echodrop/testkit/servers/listen';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Health } from './health.ts';
import { Metrics } from './metrics/metrics.ts';
import { createOpsServer } from './ops-server.ts';
import { Secret } from './secret.ts';

let health: Health;
let metrics: Metrics;
let address: string;
let parts: AsyncDisposableStack;
const log = { error: vi.fn(), warn: vi.fn() };

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  health = new Health(log, [new Secret('redis://:hunter2@redis')]);
  metrics = new Metrics('gateway');
  address = parts.use(await listen(createOpsServer(health, metrics, log))).origin;
});

afterEach(() => parts.disposeAsync());

test('/livez responds from start to end', async () => {
  for (const step of [() => {}, () => health.markServing(), () => health.markStopping()]) {
    step();
    const response = await fetch(`${address}/livez`);
    expect([response.status, await response.text()]).toEqual([200, 'ok\n']);
  }
});

test('/readyz returns 503 with the component that is down and why, and 200 if all are ready', async () => {
  let down = true;
  health.markServing();
  health.addCheck('queue', async () => {
    if (down) throw new Error('ECONNREFUSED redis://:hunter2@redis \u009b31m');
  });
  const refused = await fetch(`${address}/readyz`);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({
    ready: false,
    state: 'serving',
    parts: { queue: 'down' },
    reasons: { queue: 'ECONNREFUSED [secret] \\u009b31m' },
  });
  down = false;
  const ready = await fetch(`${address}/readyz`);
  expect([ready.status, ready.headers.get('cache-control')]).toEqual([200, 'no-store']);
  await ready.body?.cancel();
});

test('an unexpected error is a 500 and a line of the log, and does not end the process', async () => {
  const defect = new Error('a defect');
  vi.spyOn(metrics, 'exposition').mockRejectedValue(defect);
  expect((await fetch(`${address}/metrics`)).status).toBe(500);
  expect(log.error).toHaveBeenCalledWith({ err: defect }, 'Request failed');
});

test('/metrics shows all metrics, with the service name', async () => {
  metrics.counter('echodrop_uploads_total', 'Uploads.', ['outcome']).inc({ outcome: 'ok' });
  metrics.gauge('echodrop_buffer_bytes', 'Bytes.').set(5);
  metrics.histogram('echodrop_probe_seconds', 'Seconds.', [], [1]).observe(0.5);
  const response = await fetch(`${address}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  expect(text).toContain('echodrop_uploads_total{outcome="ok",service="gateway"} 1');
  expect(text).toContain('echodrop_buffer_bytes{service="gateway"} 5');
  expect(text).toContain('echodrop_probe_seconds_bucket{le="1",service="gateway"} 1');
  expect(text).toContain('process_resident_memory_bytes{service="gateway"}');
});

test.each(['/', '/healthz', '/metrics/x', '/livez/'])('%s is not found', async (path) => {
  const response = await fetch(address + path);
  expect(response.status).toBe(404);
  await response.body?.cancel();
});

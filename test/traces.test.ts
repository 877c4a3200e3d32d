import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { listen } from '@echodrop/testkit/servers/listen';
import { type CollectedSpan, type Collector, startCollector } from '@echodrop/testkit/servers/start-collector';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { type UploadOptions, upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Unique markers that must appear in no span.
const markers: string[] = [];
function mark(): string {
  const marker = `m${randomBytes(10).toString('hex')}`;
  markers.push(marker);
  return marker;
}

const services = ['auth-verifier', 'gateway', 'site', 'probe-worker', 'rendition-worker'] as const;
const signer = { consumer: { key: mark(), secret: mark() }, token: { key: mark(), secret: mark() } };
const apiKey = mark();
const caption = mark();
const user = { id: mark(), screen_name: mark() };
const foreignTrace = '0af7651916cd43dd8448eb211c80319c';

// Longer than any test: no healthy export fails, and whatever waits for a hanging one never ends in time.
const exportMs = '300000';

const parts = new AsyncDisposableStack();
const seen: IncomingHttpHeaders[] = [];
let collector: Collector;
let stack: Stack;
let provider: string;
let settings: Record<string, string>;
let media: Buffer;

beforeAll(async () => {
  collector = parts.use(await startCollector());
  const outside = createServer((request, response) => {
    seen.push(request.headers);
    response.statusCode = request.url === '/refusing' ? 401 : request.url === '/broken' ? 500 : 200;
    response.end(JSON.stringify(user));
  });
  const { origin: at } = parts.use(await listen(outside));
  provider = `${at}/verify`;
  settings = {
    LOG_LEVEL: 'debug',
    API_KEYS: apiKey,
    VERIFIER_SECRET: mark(),
    CACHE_KEY_SECRET: mark(),
    PROBE_QUEUE_SECRET: mark(),
    RENDITION_QUEUE_SECRET: mark(),
    USER_ID_SECRET: mark(),
    IDENTITY_PROVIDERS: `${provider}, ${at}/refusing, ${at}/broken`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: exportMs,
    OTEL_BSP_EXPORT_TIMEOUT: exportMs,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_SERVICE_NAME: 'another',
  };
  stack = parts.use(await startStack({ services, settings }));
  media = await samplePhoto('png', { width: 64, height: 48 });
});

afterAll(() => parts.disposeAsync());

const secretFields = () => [
  { name: 'consumer_token', content: signer.consumer.key },
  { name: 'consumer_secret', content: signer.consumer.secret },
  { name: 'oauth_token', content: signer.token.key },
  { name: 'oauth_secret', content: signer.token.secret },
];

function send({ version = 2, headers = {}, parts: more = [] }: UploadOptions = {}, address = provider, to = stack) {
  const proof = {
    'X-Auth-Service-Provider': address,
    'X-Verify-Credentials-Authorization': signEcho(address, signer),
  };
  return upload(to, {
    version,
    headers: { ...(version === 2 && proof), ...headers },
    parts: [
      { name: 'key', content: apiKey },
      { name: 'message', content: caption },
      ...more,
      { name: 'media', filename: `${mark()}.jpg`, content: media },
    ],
  });
}

/** The spans so far of the upload that published `id`. Each service exports its own, in any order. */
function traceOf(id: string): CollectedSpan[] {
  const first = collector.spans.find(({ attributes }) => attributes['echodrop.media.id'] === id);
  return collector.spans.filter(({ traceId }) => traceId === first?.traceId);
}

function linesOf(service: ServiceName, of = stack): Record<string, unknown>[] {
  // The last line may be incomplete.
  const lines = of.services[service].output.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
}

test('an upload is one trace across all services, and all log lines about it have the trace id', async () => {
  const { status, text } = await send({ headers: { traceparent: `00-${foreignTrace}-b7ad6b7169203331-01` } });
  expect(status).toBe(200);
  const { id } = JSON.parse(text);
  const named = (span: CollectedSpan | undefined) => span && `${span.service}: ${span.name}`;
  const tree = () => {
    const spans = traceOf(id);
    const parent = ({ parentSpanId }: CollectedSpan) =>
      named(spans.find(({ spanId }) => spanId === parentSpanId)) ?? 'nothing';
    return [...new Set(spans.map((span) => `${named(span)} < ${parent(span)}`))];
  };
  await expect
    .poll(tree)
    .toEqual(
      expect.arrayContaining([
        'auth-verifier: POST /verify < gateway: POST /verify',
        'auth-verifier: query provider < auth-verifier: POST /verify',
        'gateway: POST /verify < gateway: POST /2/upload.json',
        'gateway: request probe-photos < gateway: POST /2/upload.json',
        'gateway: store put < gateway: POST /2/upload.json',
        'gateway: store commit < gateway: POST /2/upload.json',
        'gateway: store put_if_absent < gateway: POST /2/upload.json',
        'gateway: enqueue rendition-pictures < gateway: POST /2/upload.json',
        'probe-worker: process probe-photos < gateway: request probe-photos',
        'rendition-worker: process rendition-pictures < gateway: enqueue rendition-pictures',
        'rendition-worker: store put < rendition-worker: process rendition-pictures',
        'rendition-worker: store read < rendition-worker: process rendition-pictures',
      ]),
    );
  await expect
    .poll(() => tree().filter((each) => each.endsWith('< nothing')))
    .toEqual(['gateway: POST /2/upload.json < nothing']);
  const ofRecord = () => traceOf(id).filter(({ attributes }) => attributes['echodrop.object.kind'] === 'records');
  const outcomes = () => ofRecord().map(({ attributes }) => attributes['echodrop.outcome']);
  await expect.poll(outcomes).toEqual(['ok']);

  const [{ traceId } = { traceId: '' }] = traceOf(id);
  for (const service of ['gateway', 'auth-verifier', 'probe-worker', 'rendition-worker'] as const) {
    await waitUntil(`a log line of ${service}`, async () => linesOf(service).some(isOfUpload));
    const ids = linesOf(service)
      .filter(isOfUpload)
      .map(({ trace_id }) => trace_id);
    expect(ids, service).toEqual(ids.map(() => traceId));
  }
});

test('credentials after the media are verified in the trace of their upload', async () => {
  const padded = Buffer.concat([media, Buffer.alloc(2 ** 20)]);
  const { text } = await upload(stack, {
    version: 1,
    parts: [
      { name: 'media', filename: 'a.png', content: padded },
      { name: 'key', content: apiKey },
      { name: 'message', content: caption },
      ...secretFields(),
    ],
  });
  const verified = () => traceOf(JSON.parse(text).id).filter(({ service }) => service === 'auth-verifier');
  await expect.poll(() => verified().map(({ name }) => name)).toContain('POST /verify');
});

function isOfUpload(line: Record<string, unknown>): boolean {
  return ['mediaKey', 'mediaId', 'jobId', 'outcome', 'provider'].some((name) => name in line);
}

test('clients can neither choose a trace nor see one', async () => {
  expect(seen.length).toBeGreaterThan(0);
  for (const headers of seen) expect(Object.keys(headers).filter((name) => /^trace|^baggage/.test(name))).toEqual([]);
  const forged = { traceparent: `00-${foreignTrace}-b7ad6b7169203331-01` };
  await fetch(`${stack.verifier}/verify`, { method: 'POST', headers: forged });
  expect((await fetch(`${stack.site}/style.css`, { headers: forged })).status).toBe(200);
  const served = () => linesOf('site').find(({ path }) => path === '/style.css');
  await waitUntil('a log line of the site', async () => served() !== undefined);
  expect(served()?.trace_id).toMatch(/^[\da-f]{32}$/);
  const shown = () => collector.spans.find(({ name }) => name === 'GET /style.css');
  await waitUntil('a span of the site', async () => shown() !== undefined);
  expect(shown()?.traceId).toBe(served()?.trace_id);
  expect(collector.received).not.toContain(foreignTrace);
});

test('the log line about an aborted page request has its trace id', async () => {
  await stack.services['rendition-worker'].freeze();
  const { id } = JSON.parse((await send()).text);
  const path = `/${id}/large.jpg`;
  const left = () => linesOf('site').find((line) => line.path === path && line.complete === false);
  await waitUntil('a log line about an aborted request', async () => {
    await fetch(stack.site + path, { signal: AbortSignal.timeout(300) }).catch(() => {});
    return left() !== undefined;
  });
  await stack.services['rendition-worker'].thaw();
  expect(left()?.trace_id).toMatch(/^[\da-f]{32}$/);
});

test('exported spans contain no credentials, captions or users', async () => {
  const refusing = provider.replace('/verify', '/refusing');
  const broken = provider.replace('/verify', '/broken');
  expect((await send({ version: 1, parts: secretFields() })).status).toBe(200);
  expect((await send({ headers: { 'Idempotency-Key': mark() } })).status).toBe(200);
  expect((await send({}, refusing)).status).toBe(401);
  expect((await send({}, broken)).status).toBe(401);
  expect((await send({ version: 1, parts: [...secretFields(), ...secretFields()] })).status).toBe(400);
  expect((await fetch(`${stack.gateway}/${mark()}?oauth_token=${mark()}`)).status).toBe(404);
  expect((await fetch(`${stack.gateway}/2/upload.json?oauth_token=${mark()}`)).status).toBe(405);
  const proof = signEcho(provider, signer);
  const headers = { 'X-Auth-Service-Provider': provider, 'X-Verify-Credentials-Authorization': proof };
  expect((await fetch(`${stack.gateway}/2/media.json`, { headers })).status).toBe(200);
  const last = {
    method: 'DELETE',
    headers: { ...headers, 'X-Verify-Credentials-Authorization': signEcho(provider, signer) },
  };
  expect((await fetch(`${stack.gateway}/2/media/${mark()}`, last)).status).toBe(404);
  await waitUntil('the last span', async () => collector.spans.some(({ name }) => name === 'DELETE /2/media/:id'));
  expect(collector.spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['GET none', 'GET /2/upload.json', 'POST /1/upload.json', 'GET /2/media.json']),
  );
  const inLowerCase = collector.received.toLowerCase();
  expect(markers.filter((marker) => inLowerCase.includes(marker))).toEqual([]);
  expect(new Set(collector.spans.map(({ service }) => service))).toEqual(new Set(services));
});

// packages/service/src/tracing/start-tracing.integration.test.ts has its shutdown.
test('a hanging collector is logged once, and delays no upload', async () => {
  await using hanging = await startCollector();
  const quick = { OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  await using logging = await startStack({ beside: stack, services: ['gateway'], settings: { ...settings, ...quick } });
  const logged = () => linesOf('gateway', logging).map(({ msg }) => msg);
  const sendThere = async () => expect((await send({}, provider, logging)).status).toBe(200);
  hanging.hang();
  await sendThere();
  await waitUntil('the error in the log', async () => logged().includes('Failed to export traces'));
  // The second begins after the first has failed.
  for (let n = 0; n < 2; n += 1) {
    const before = hanging.exports;
    await sendThere();
    await waitUntil('another export without a response', async () => hanging.exports > before);
  }
  hanging.respond();
  await waitUntil('the recovery in the log', async () => {
    await sendThere();
    return logged().includes('Trace export recovered');
  });
  const untilRecovery = logged().slice(0, logged().indexOf('Trace export recovered'));
  expect(untilRecovery.filter((msg) => msg === 'Failed to export traces')).toHaveLength(1);
});

import { readFile } from 'node:fs/promises';
import { METHODS, request } from 'node:http';
import { join } from 'node:path';
import { adminOf } from '@echodrop/testkit/admin-of';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { patientSettings } from '@echodrop/testkit/patience';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, type UploadOptions, upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningPrometheus, startPrometheus } from './start-prometheus.fixture.ts';

const services = ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker', 'sandbox-provider'] as const;
const dashboards = ['upload-path', 'workers'] as const;

const parts = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = parts.use(await startStack({ settings: patientSettings }));
  await Promise.all([uploadsOfAllKinds(), adminOf(stack, 'sweep', '--yes')]);
});
afterAll(() => parts.disposeAsync());

// Photos and videos in both versions and formats, with a view of each.
async function uploadsOfAllKinds(): Promise<void> {
  const photo = await samplePhoto('jpg', { width: 64, height: 48 });
  const video = await sampleVideo('mp4', { width: 64, height: 48 });
  const uploads: readonly UploadOptions[] = [
    { version: 1, format: 'xml', media: photo },
    { version: 1, format: 'json', media: video },
    { version: 2, format: 'xml', media: video },
    { version: 2, format: 'json', media: photo },
  ];
  await Promise.all(uploads.map(uploadAndView));
  // Pages need no re-encoded video, so it may come later.
  const isVideoDone = (series: string) =>
    /^echodrop_rendition_job_seconds_count\{.*queue="rendition-films"/.test(series);
  await waitUntil('a re-encoded video', async () => (await seriesOf('rendition-worker')).some(isVideoDone));
}

async function uploadAndView(options: UploadOptions): Promise<void> {
  const { status, text } = await upload(stack, options);
  expect(status).toBe(200);
  const [, id] = /(?:"id":"|<id>)(\w{10})/.exec(text) ?? [];
  for (const page of ['', '/large.jpg']) {
    const address = `${stack.site}/${id}${page}`;
    await waitUntil(address, async () => (await fetch(address)).ok);
  }
}

async function metricsOf(service: ServiceName): Promise<string> {
  return stack.metrics(service);
}

async function seriesOf(service: ServiceName): Promise<string[]> {
  const lines = (await metricsOf(service)).split('\n').filter((line) => /^echodrop_/.test(line));
  return lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
}

function statusOf(address: string, method: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const pending = request(address, { method, headers, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    pending.once('error', reject).end();
  });
}

// Unexpected requests; `n` makes them new.
async function oddRequests(n: number): Promise<void> {
  const { gateway, site, verifier, provider } = stack;
  const sandbox = new URL(provider).origin;
  const paths = [
    `/odd-${n}`,
    `/2/upload.odd${n}`,
    `/%${n}`,
    '/%zz',
    `/0ddPath${n}0`,
    `/show/large/${n}`,
    `/by/${n}`,
    `/2/media/${n}`,
  ];
  const odd = METHODS.filter((method) => method !== 'CONNECT')
    .slice(n % 3)
    .filter((_, index) => index % 3 === 0);
  for (const address of [gateway, site, verifier, sandbox]) {
    await Promise.all(paths.map((path) => statusOf(`${address}${path}?q=${n}`, 'GET')));
    await Promise.all(odd.map((method) => statusOf(`${address}/odd`, method)));
  }
  const media = Buffer.from('no media');
  const key = { name: 'key', content: `odd key ${n}` };
  const form = [key, { name: 'message', content: '' }, { name: 'media', filename: 'media', content: media }];
  await upload(stack, { parts: form });
  await upload(stack, { version: 1, parts: form });
  await upload(stack, {
    media,
    headers: { ...echoHeaders(stack), 'X-Auth-Service-Provider': `https://odd-${n}.example/` },
  });
}

test('clients cannot add series: labels have closed sets', async () => {
  const known = () => Promise.all(services.map(async (service) => new Set(await seriesOf(service))));
  let before = await known();
  // A scrape lacks what a busy store or Redis reports late.
  for (let n = 10; n < 16; n += 1) {
    await oddRequests(n);
    const now = await known();
    before = before.map((series, i) => series.union(now[i] ?? new Set()));
  }
  for (let n = 16; n < 30; n += 1) await oddRequests(n);
  const after = await known();
  // Longer jobs make further kinds of store calls, which are a closed set too.
  const isSent = (series: string) => !series.startsWith('echodrop_store_call_seconds');
  const added = after.map((series, n) => [...series.difference(before[n] ?? new Set())].filter(isSent));
  expect(added).toEqual(services.map(() => []));
  for (const series of after) expect(series.size).toBeLessThan(1200);
});

test('the documented metrics are those of the running system', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/reference/metrics.md'), 'utf8');
  const documented = page.matchAll(/`(echodrop_[a-z_]+)`/g).map(([, name]) => name);
  const exported = (await Promise.all(services.map(metricsOf))).flatMap((metrics) =>
    [...metrics.matchAll(/^# TYPE (echodrop_\w+) /gm)].map(([, name]) => name),
  );
  expect([...new Set(documented)].sort()).toEqual([...new Set(exported)].sort());
});

await describeWithOpsCheckers('the metrics of a running system', ['promtool'], () => {
  test.each(services)('of %s follow the conventions of Prometheus', async (service) => {
    const metrics = await metricsOf(service);
    expect(metrics).toMatch(/^echodrop_build_info\{version="\d+\.\d+\.\d+",revision="unknown",.*\} 1$/m);
    const { all } = await execa('promtool', ['check', 'metrics'], { input: metrics, all: true, reject: false });
    expect(all).toBe('');
  });
});

await describeWithOpsCheckers('a Prometheus that scrapes the running system', ['prometheus'], () => {
  let prometheus: RunningPrometheus;

  beforeAll(async () => {
    prometheus = parts.use(await startPrometheus(services.map((job) => [job, new URL(stack.ops(job)).host])));
    // A busy service may miss a scrape, which has a second.
    const last = (series: string) => `last_over_time(${series}[1h])`;
    const seen = (uploads: number) =>
      waitUntil(`a scrape after ${uploads} uploads`, async () => {
        const done = `sum(${last('echodrop_uploads_total{outcome="published"}')}) == ${uploads}
          and sum(${last('echodrop_rendition_work_seconds_count')}) == ${uploads}
          and count(max_over_time(up[1h]) == 1) == ${services.length}`;
        return (await prometheus.values(done)).length === 1;
      });
    await seen(4);
    // Rates need two scrapes.
    await uploadsOfAllKinds();
    await seen(8);
    await waitUntil('an evaluation of all rules', async () =>
      (await prometheus.rules()).every(({ health }) => health !== 'unknown'),
    );
  });

  /** Expects every query to return data, now or after the next scrape. */
  async function expectData(queries: readonly string[], isData: (value: number) => boolean): Promise<void> {
    let empty = queries;
    const stillEmpty = async () => {
      const values = await Promise.all(empty.map((query) => prometheus.values(query)));
      empty = empty.filter((_, n) => !values[n]?.some(isData));
      return empty;
    };
    await expect.poll(stillEmpty).toEqual([]);
  }

  test('every rule can be evaluated, and recording rules yield data', async () => {
    const rules = await prometheus.rules();
    expect(rules.length).toBeGreaterThan(20);
    for (const { name, health, lastError } of rules)
      expect({ name, health, lastError }).toEqual({ name, health: 'ok' });
    const recording = rules.filter(({ type }) => type === 'recording').map(({ name }) => name);
    await expectData(recording, Number.isFinite);
  });

  test.each(dashboards)('every query of the dashboard %s returns data', async (name) => {
    const file = new URL(`../grafana/dashboards/${name}.json`, import.meta.url);
    const { panels } = JSON.parse(await readFile(file, 'utf8'));
    const queries: string[] = panels.flatMap(({ targets = [] }) => targets.map(({ expr }: { expr: string }) => expr));
    expect(queries.length).toBeGreaterThan(15);
    // The interval includes all uploads of this test.
    const filled = queries.map((query) =>
      query.replaceAll('$__rate_interval', '1h').replaceAll(/\$(service|queue)\b/g, '.*'),
    );
    await expectData(filled, Number.isFinite);
  });

  test('every query of the KEDA component returns data for its queues', async () => {
    const file = new URL('../kubernetes/components/keda/scaled-workers.yaml', import.meta.url);
    const queries = (await readFile(file, 'utf8')).match(/(?<= query: ).*/g) ?? [];
    expect(queries.length).toBeGreaterThan(5);
    const ofQueues = queries.flatMap((query) => {
      const [matcher = '', names = ''] = /queue=~?"([^"]+)"/.exec(query) ?? [];
      return names.split('|').map((name) => query.replace(matcher, `queue="${name}"`));
    });
    await expectData(ofQueues, () => true);
  });
});

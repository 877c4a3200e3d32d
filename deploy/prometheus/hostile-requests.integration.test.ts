import { glob, readFile } from 'node:fs/promises';
import { adminOf } from '@echodrop/testkit/admin-of';
import { anotherUser } from '@echodrop/testkit/another-user';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { sendHostile } from '@echodrop/testkit/hostile/hostile-request';
import { hostileRequests } from '@echodrop/testkit/hostile/hostile-requests';
import { setBehaviour } from '@echodrop/testkit/provider/sandbox-behaviour';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type RunningPrometheus, startPrometheus } from './start-prometheus.fixture.ts';

const services = ['gateway', 'site', 'auth-verifier', 'probe-worker', 'rendition-worker'] as const;
// Alerts on failures need more than five, so that many are sent of each request.
const rounds = 7;
const proofHeader = 'X-Verify-Credentials-Authorization';
// It measures the machine of this test.
const isOfMachine = (alert: string) => alert === 'EventLoopBlocked';

const parts = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = parts.use(
    await startStack({
      settings: {
        LOG_LEVEL: 'trace',
        // Few requests then reach the share of an address.
        MAX_CONCURRENT_UPLOADS: '150',
        UPLOAD_BUFFER_BYTES: `${8 * 1024 * 1024}`,
        WEB_UPLOAD: '1',
        SECURITY_CONTACT: 'mailto:security@echodrop.example',
      },
    }),
  );
  await adminOf(stack, 'sweep', '--yes');
});
afterAll(() => parts.disposeAsync());

async function sendAll(): Promise<void> {
  for (const each of hostileRequests) await sendHostile(stack[each.to], each);
}

/** The outcomes of many uploads at once from one address, without credentials. */
async function crowd(size: number, uploadOf: (n: number) => UploadOptions): Promise<Record<string, number>> {
  const all = await Promise.all(Array.from({ length: size }, (_, n) => upload(stack, uploadOf(n))));
  const reasons = all.map(({ text }) => JSON.parse(text).errors[0].reason as string);
  return Object.fromEntries([...Map.groupBy(reasons, String)].map(([reason, { length }]) => [reason, length]));
}

/** Uploads without credentials from one address, each but its last byte: two of them fit into a quarter of `UPLOAD_BUFFER_BYTES`. */
async function holdUnverified(size: number): Promise<void> {
  const parts = [{ name: 'media', filename: 'a.jpg', content: Buffer.alloc(900 * 1024) }];
  const { path, headers, body } = uploadRequest(stack, { version: 1, parts });
  await using clients = new AsyncDisposableStack();
  const all = await Promise.all(Array.from({ length: size }, () => RawClient.connect(stack.gateway)));
  for (const client of all) {
    clients.use(client).head(path, headers, body.length);
    client.write(body.subarray(0, -1));
  }
  const refused = () => all.filter(({ received }) => received.includes('too_many_requests'));
  await waitUntil('all but two are refused', async () => refused().length >= size - 2);
}

function loggedLines(): { readonly level: string; readonly service: string; readonly msg: string }[] {
  return Object.values(stack.services).flatMap(({ output }) =>
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  );
}

const isFailure = ({ level }: { level: string }) => ['error', 'fatal'].includes(level);

test.each(hostileRequests)('$name is no failure of a service', async (each) => {
  const before = loggedLines().filter(isFailure).length;
  await sendHostile(stack[each.to], each);
  expect(loggedLines().filter(isFailure).slice(before)).toEqual([]);
});

test('logs are lines of JSON without a character that a terminal obeys', () => {
  const lines = loggedLines();
  expect(lines.length).toBeGreaterThan(100);
  expect(JSON.stringify(lines)).toContain('\u009b31m\u202e');
  for (const { output } of Object.values(stack.services))
    expect(output).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
});

await describeWithOpsCheckers('Prometheus', ['prometheus'], () => {
  let prometheus: RunningPrometheus;

  beforeAll(async () => {
    prometheus = parts.use(await startPrometheus(services.map((job) => [job, new URL(stack.ops(job)).host])));
  });

  /** Names of the alerts whose expressions have a result. */
  async function pending(): Promise<string[]> {
    const files = await Array.fromAsync(glob('rules/*.yml', { cwd: import.meta.dirname }));
    const contents = await Promise.all(files.map((file) => readFile(new URL(file, import.meta.url), 'utf8')));
    const rules: { alert?: string; expr: string }[] = contents
      .flatMap((text) => parse(text).groups)
      .flatMap((group) => group.rules);
    const results = await Promise.all(
      rules.map(async ({ alert = '', expr }) => ((await prometheus.values(expr)).length > 0 ? alert : '')),
    );
    return results.filter((alert) => alert !== '' && !isOfMachine(alert));
  }

  /** Waits until Prometheus has scraped what happened so far, and evaluated its rules since. */
  async function scraped(uploads: number): Promise<void> {
    const media = await samplePhoto('jpg', { width: 64, height: 48 });
    expect((await upload(stack, { media })).status).toBe(200);
    await waitUntil('two scrapes and an evaluation', async () => {
      const done = `sum(echodrop_uploads_total{outcome="published"} offset 3s) == ${uploads}`;
      return (await prometheus.values(done)).length === 1;
    });
  }

  test('no alert fires after the requests of strangers', async () => {
    await scraped(1);
    expect(await pending()).toEqual([]);
    for (let n = 0; n < rounds; n += 1) await sendAll();
    await scraped(2);
    expect(await pending()).toEqual([]);
  });

  test('no alert fires after a stranger has reached the shares of an address', async () => {
    await holdUnverified(14);
    // All 100 must arrive before the first response; the verifier waits five seconds for a provider.
    await setBehaviour(stack.provider, 'slow', 4);
    const made = (n: number) => ({ headers: { ...anotherUser(stack), [proofHeader]: `Bearer made-up-${n}` } });
    const outcomes = await crowd(100, made);
    await setBehaviour(stack.provider, 'normal');
    // A quarter of the provider's 256 requests at once; 76 have slots.
    expect(outcomes).toEqual({ credentials_refused: 64, too_many_requests: 36 });
    await scraped(3);
    expect(await pending()).toEqual([]);
  });
});

import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type CountingProxy, type Fate, startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { startCuttingProxy } from '@echodrop/testkit/servers/cutting-proxy';
import { startLimitingProxy } from '@echodrop/testkit/servers/limiting-proxy';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { run } from './run-cli.fixture.ts';

const MiB = 2 ** 20;
let stack: Stack;
let proxy: CountingProxy;
let folder: string;
let fates: Fate[] = [];
let width = 32;

beforeAll(async () => {
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site'] });
  proxy = await startCountingProxy(stack.gateway, () => fates.shift() ?? 'passes');
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-'));
  proxy.seen.length = 0;
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

const environment = () => ({
  XDG_STATE_HOME: join(folder, 'state'),
  XDG_CONFIG_HOME: join(folder, 'config'),
  ECHODROP_URL: proxy.endpoint,
  ECHODROP_KEY: sandbox.apiKey,
  ECHODROP_PROVIDER: stack.bearerProvider,
  ECHODROP_BEARER: 'sandbox-bearer',
});
// A page waits for its pictures, which this stack does not make.
const echodrop = (args: readonly string[], options: Parameters<typeof run>[1] = {}) =>
  run(args, { env: environment(), cwd: folder, maxCheckMs: 100, ...options });
const records = async () => (await stack.stored('records')).length;
const lines = (text: string) => text.split('\n').filter(Boolean);

/** Creates a unique photo. */
async function photo(name: string): Promise<string> {
  width += 2;
  await writeFile(join(folder, name), await samplePhoto('jpg', { width, height: 24 }));
  return name;
}

/** Creates a photo of three megabytes, which goes as a form. */
async function middlingPhoto(name: string): Promise<string> {
  await writeFile(
    join(folder, name),
    Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(3e6)]),
  );
  return name;
}

test.each([
  ['as nginx', 413],
  ['as HAProxy', 413],
  ['as HAProxy', 403],
  ['reset', 413],
] as const)(
  'a photo of 3 MB passes a proxy that limits bodies to 1 MiB (%s, %i): one record',
  async (refusal, status) => {
    await using limiting = await startLimitingProxy(stack.gateway, { bytes: MiB, refusal, status });
    const before = await records();
    const env = { ...environment(), ECHODROP_URL: limiting.origin };
    const { status: exit, stdout } = await echodrop(['upload', await middlingPhoto('a.jpg')], { env });
    expect(exit).toBe(0);
    expect(limiting.seen[0]).toBe('POST refused');
    expect(limiting.seen.filter((each) => /^PATCH 2/.test(each))).toHaveLength(3);
    expect(await records()).toBe(before + 1);
    expect(stdout.trim()).toMatch(/\/\w{10}$/);
  },
);

test('a photo that was published as a form, whose response was lost, is not published again in pieces', async () => {
  const before = await records();
  fates = ['lost'];
  const { status, stdout } = await echodrop(['upload', await middlingPhoto('a.jpg')]);
  expect(status).toBe(0);
  expect(proxy.seen.map(({ method }) => method)).toContain('PATCH');
  expect(await records()).toBe(before + 1);
  const list = await echodrop(['list', '--count', '1', '--json']);
  expect(JSON.parse(list.stdout).media[0].url).toBe(stdout.trim());
});

test('for 20 files with an invalid one, prints 19 addresses in order and exits with 1; a rerun adds no upload', async () => {
  const names = await Promise.all(Array.from({ length: 20 }, (_, n) => photo(`${String(n).padStart(2, '0')}.jpg`)));
  await writeFile(join(folder, '07.jpg'), 'no photo');
  const before = await records();
  const first = await echodrop(['upload', '*.jpg', '--jobs', '4']);
  expect(first.status).toBe(1);
  expect(lines(first.stdout)).toHaveLength(names.length - 1);
  expect(lines(first.stderr)).toEqual([
    expect.stringMatching(/^07\.jpg: This is not a supported photo or video.*\(415 media_unsupported\)/),
  ]);
  expect(await records()).toBe(before + 19);

  const second = await echodrop(['upload', ...names, '--jobs', '16']);
  expect({ ...second, stderr: '' }).toEqual({ ...first, stderr: '' });
  expect(await records()).toBe(before + 19);
});

test('a rerun on a machine without the ledger adds no upload either', async () => {
  const name = await photo('a.jpg');
  const first = await echodrop(['upload', name]);
  await rm(join(folder, 'state'), { recursive: true });
  const before = await records();
  expect(await echodrop(['upload', name])).toEqual(first);
  expect(await records()).toBe(before);
});

test('an upload removed by rm can be repeated only with --again', async () => {
  const name = await photo('a.jpg');
  const address = (await echodrop(['upload', name])).stdout.trim();
  const removal = await echodrop(['rm', address, 'ZZZZZZZZZZ']);
  expect(removal.status).toBe(1);
  expect(removal.stdout).toBe(`deleted ${address.slice(-10)}\n`);
  expect(removal.stderr).toContain('ZZZZZZZZZZ: ');
  await expect.poll(async () => (await fetch(address)).status).toBe(410);
  const repeated = await echodrop(['upload', name], { maxCheckMs: patienceMs });
  expect(repeated).toMatchObject({ status: 1, stdout: '' });
  expect(repeated.stderr).toContain('To publish it again, add --again. (410 removed)');
  expect((await echodrop(['upload', name, '--again'])).status).toBe(0);
});

test('uploads standard input', async () => {
  const stdin = await samplePhoto('jpg', { width: 18, height: 20 });
  const { status, stdout } = await echodrop(['upload', '-', '--output', 'json'], { stdin });
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ type: 'jpg', width: 18, height: 20, size: stdin.length });
});

test('lists uploads, newest first, as a table and as JSON', async () => {
  await echodrop(['upload', await photo('a.jpg'), '--message', 'older']);
  await echodrop(['upload', await photo('b.jpg'), '--message', 'newer\u001b[2J']);
  const { stdout, stderr } = await echodrop(['list', '--count', '2']);
  const [newer = '', older = ''] = lines(stdout);
  expect(newer).toMatch(/^\w{10} {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}jpg \d+x24 +http:\S+ {2}"newer \[2J"$/);
  expect(older).toMatch(/ {2}"older"$/);
  expect(stderr).toMatch(/^More: echodrop list --count 2 --after \S+\n$/);
  const page = JSON.parse((await echodrop(['list', '--count', '2', '--json'])).stdout);
  expect(page.media.map(({ text }: { text: string }) => text)).toEqual(['newer\u001b[2J', 'older']);
  const after = await echodrop(['list', '--count', '1', '--after', page.next]);
  expect(after.status).toBe(0);
});

test('shows the user', async () => {
  expect(JSON.parse((await echodrop(['whoami', '--json'])).stdout)).toEqual({
    name: sandbox.screenName,
    subject: String(sandbox.userId),
    provider: stack.bearerProvider,
    service: proxy.endpoint,
  });
  const env = { ...environment(), ECHODROP_BEARER: 'wrong' };
  expect(await echodrop(['whoami'], { env })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('does not accept'),
  });
});

test('an upload of a large file that was killed continues with the next run, without most of its bytes again', async () => {
  const before = await records();
  const size = 40 * MiB;
  await writeFile(
    join(folder, 'large.jpg'),
    Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(size)]),
  );
  let sent = 0;
  const isHalfSent = Promise.withResolvers<void>();
  await using train = await startCuttingProxy(stack.gateway, (bytes) => {
    sent = bytes;
    if (sent > size / 2) isHalfSent.resolve();
  });
  const env = { ...environment(), ECHODROP_URL: train.origin };
  const main = join(import.meta.dirname, 'main.ts');
  const options = { env, cwd: folder, extendEnv: false, reject: false } as const;
  const first = execa(process.execPath, [main, 'upload', 'large.jpg'], options);
  await isHalfSent.promise;
  first.kill('SIGKILL');
  await first;
  expect(await records()).toBe(before);
  const { status, stdout, stderr } = await echodrop(['upload', 'large.jpg'], { env });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(lines(stdout)).toHaveLength(1);
  expect(await records()).toBe(before + 1);
  expect(sent).toBeLessThan(1.5 * size);
  expect(await readdir(join(folder, 'state/echodrop/uploads'))).toEqual([expect.stringMatching(/\.json$/)]);
});

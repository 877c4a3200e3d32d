import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { expectJourney } from '@echodrop/testkit/browser/journey';
import { freePort } from '@echodrop/testkit/free-ports';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root, version } from './compose-system.ts';
import { expectAllShown } from './intact.ts';
import { type Acknowledged, sha256 } from './load.ts';

const image = `echodrop/all:${version}`;
const container = `echodrop-all-${process.pid}`;
const hardened = '--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges';
const parts = new AsyncDisposableStack();
let origin: string;

const docker = async (...words: string[]) => (await execa('docker', words)).stdout;
const system = () => ({
  gateway: origin,
  site: origin,
  provider: `${origin}/1/account/verify_credentials.json`,
});

/** The box of the README that begins with `words`, for this image, with a port of its own, and with fewer rights than in the README. */
async function fromReadme(words: string): Promise<string> {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const boxes = readme.match(/(?:^ {4}.*\n)+/gm) ?? [];
  const { port } = new URL(origin);
  return (boxes.map((box) => box.trim()).find((box) => box.startsWith(words)) ?? '')
    .replace('docker run', `docker run ${hardened} --env PUBLIC_SITE_URL=${origin}`)
    .replace('127.0.0.1:8080:8080', `127.0.0.1:${port}:8080`)
    .replaceAll('http://127.0.0.1:8080', origin)
    .replace('--name echodrop ', `--name ${container} `)
    .replace('echodrop:/data', `${container}:/data`)
    .replace(/echodrop\/all$/, image);
}

const untilHealthy = () =>
  waitUntil(
    'a healthy container',
    async () => (await docker('inspect', '--format', '{{.State.Health.Status}}', container)) === 'healthy',
    120_000,
  );

async function uploadPhoto(message: string, type: 'jpg' | 'png'): Promise<Acknowledged> {
  const media = await samplePhoto(type, { width: 640, height: 480 });
  const { status, text } = await upload(system(), { media, message });
  expect({ status, text }).toMatchObject({ status: 200 });
  const { id, url } = JSON.parse(text);
  expect(url).toBe(`${origin}/${id}`);
  return { id, message, sha256: sha256(media) };
}

beforeAll(async () => {
  origin = `http://127.0.0.1:${await freePort()}`;
  parts.defer(async () => {
    await execa('docker', ['rm', '--force', container], { reject: false });
    await execa('docker', ['volume', 'rm', '--force', container], { reject: false });
  });
  await execa('sh', ['-ec', await fromReadme('docker run')], { cwd: root });
  await untilHealthy();
}, 180_000);
afterAll(() => parts.disposeAsync());

test('the upload of the README gives a record; its page and picture have the same origin', async () => {
  const { stdout } = await execa('sh', ['-ec', await fromReadme('curl ')], { cwd: root });
  const { id, url } = JSON.parse(stdout);
  expect(url).toBe(`${origin}/${id}`);
  await expectAllShown(system(), [{ id, message: 'At the sea', sha256: '' }]);
  expect(await (await fetch(url)).text()).toContain(`${origin}/${id}/large.jpg`);
  expect(await docker('exec', container, 'admin', 'list')).toContain(id);
});

test('it is hardened, and nothing that it keeps is open to other users', async () => {
  const status = await docker('exec', container, 'cat', '/proc/1/status');
  expect(status).toMatch(/^Uid:\t10001\t10001\t/m);
  expect(status).toMatch(/^CapEff:\t0+$/m);
  expect(await docker('exec', container, 'find', '/data', '-perm', '/077')).toBe('');
  const logs = await docker('logs', container);
  expect(logs).toContain('Media tools run under Landlock and seccomp');
  for (const line of logs.split('\n')) expect(JSON.parse(line)).toMatchObject({ service: expect.any(String) });
});

test('a trial refuses requests to another host', async () => {
  await using client = await RawClient.connect(origin);
  client.write('GET /upload HTTP/1.1\r\nHost: media.example\r\n\r\n');
  expect(await client.response()).toMatchObject({ status: 421, body: expect.stringContaining(origin) });
});

await describeWithBrowser('a browser', (browser) => {
  test('signs in at the sandbox, uploads and deletes through the one port', async () => {
    const earlier = (await docker('exec', container, 'admin', 'list')).includes('"At the sea"') ? ['At the sea'] : [];
    await expectJourney(browser(), origin, earlier);
  });
});

test('kill -9 loses no acknowledged upload, and no rendition that was queued', async () => {
  const types = ['png', 'jpg', 'png', 'jpg', 'png', 'jpg'] as const;
  const acknowledged = await Promise.all(types.map((type, n) => uploadPhoto(`before the kill ${n}`, type)));
  await docker('kill', '--signal', 'KILL', container);
  await docker('start', container);
  await untilHealthy();
  await expectAllShown(system(), acknowledged);
  const after = await uploadPhoto('after the kill', 'png');
  await expectAllShown(system(), [after]);
});

test('another container cannot use the volume meanwhile', async () => {
  const words = ['run', '--rm', '--volume', `${container}:/data`, '--env', 'SANDBOX=1', image];
  const { exitCode, stderr } = await execa('docker', words, { reject: false });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('Another container is using') });
});

test('docker stop lets a running upload finish', async () => {
  await using client = await RawClient.connect(origin);
  const { path, headers, body } = uploadRequest(system(), {
    media: await samplePhoto('jpg', { width: 64, height: 48 }),
  });
  client.head(path, { ...headers, Host: new URL(origin).host }, body.length);
  client.write(body.subarray(0, body.length / 2));
  await expect.poll(() => metric('echodrop_uploads_in_flight')).toBe(1);
  const stopped = docker('stop', '--timeout', '60', container);
  await expect.poll(() => docker('logs', '--tail', '50', container)).toContain('"msg":"stopping: ');
  client.write(body.subarray(body.length / 2));
  expect(await client.response()).toMatchObject({ status: 200 });
  await stopped;
  expect(await docker('inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', container)).toBe('0 false');
});

test('says what to set if it knows no identity provider', async () => {
  const { exitCode, stderr } = await execa('docker', ['run', '--rm', image], { reject: false });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 78,
    stderr: expect.stringMatching(/^Set PUBLIC_SITE_URL .*IDENTITY_PROVIDERS .*SANDBOX=1/s),
  });
});

async function metric(name: string): Promise<number> {
  const js = 'fetch("http://127.0.0.1:9080/metrics").then((r) => r.text()).then(console.log)';
  const metrics = await docker('exec', container, 'node', '-e', js);
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (.*)$`, 'm').exec(metrics)?.[1]);
}

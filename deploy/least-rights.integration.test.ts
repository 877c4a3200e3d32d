import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableOf } from '@echodrop/client/local-system';
import { runAdmin } from '@echodrop/testkit/admin-of';
import { patientSettings } from '@echodrop/testkit/patience';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import {
  type CountingProxy,
  type Fate,
  type SeenRequest,
  startCountingProxy,
} from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { type ServiceName, type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { createTus, patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { echoHeaders, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type MadeSecrets, makeSecrets } from './made-secrets.fixture.ts';
import { addUser, statusOf } from './store/minio-root.fixture.ts';

const storeServices = ['gateway', 'site', 'probe-worker', 'rendition-worker'] as const;
const redisUsers = {
  QUEUE: storeServices,
  CACHE: ['gateway', 'auth-verifier'],
} as const;
type Role = keyof typeof redisUsers;

describeWithMinio('every service works with the rights from deploy/make-secrets', { stoppable: true }, (startMinio) => {
  const parts = new AsyncDisposableStack();
  let secrets: MadeSecrets;
  let minio: RunningMinio;
  let redis: Record<Role, RunningRedis>;
  let proxy: CountingProxy;
  let fate: (request: SeenRequest) => Fate = () => 'passes';
  let stack: Stack;

  beforeAll(async () => {
    secrets = parts.use(await makeSecrets());
    minio = parts.use(await startMinio());
    expect(await statusOf(minio, minio, 'PUT', `/${minio.bucket}`)).toBe(200);
    for (const user of [...storeServices, 'sweeper', 'admin']) {
      const file = join(import.meta.dirname, 'store/policies', `${user}.json`);
      const { S3_ACCESS_KEY: accessKey = '', S3_SECRET_KEY: secretKey = '' } = storeSettings(user);
      const policy = readFileSync(file, 'utf8').replaceAll('BUCKET', minio.bucket);
      await addUser(minio, { accessKey, secretKey }, `echodrop-${user}`, policy);
    }
    redis = { QUEUE: await startRole('QUEUE'), CACHE: await startRole('CACHE') };
    proxy = parts.use(await startCountingProxy(minio.endpoint, (request) => fate(request)));
    const of: Partial<Record<ServiceName, Record<string, string>>> = {};
    for (const user of storeServices) of[user] = storeSettings(user);
    for (const role of ['QUEUE', 'CACHE'] as const)
      for (const user of redisUsers[role]) of[user] = { ...of[user], [`${role}_REDIS_URL`]: redisUrl(role, user) };
    const { S3_ACCESS_KEY: _, S3_SECRET_KEY: __, ...store } = minio.settings;
    const settings = {
      ...patientSettings,
      UPLOADS_PER_MINUTE_PER_USER: '1000',
      UPLOADS_PER_MINUTE_PER_KEY: '1000',
    };
    stack = parts.use(await startStack({ settings: { ...store, ...settings, S3_ENDPOINT: proxy.endpoint }, of }));
  });
  beforeEach(() => {
    proxy.seen.length = 0;
    fate = () => 'passes';
  });
  afterAll(() => parts.disposeAsync());

  async function startRole(role: Role): Promise<RunningRedis> {
    return parts.use(await startRedis({ more: { aclfile: join(secrets.folder, `${role}_REDIS_ACL`) } }));
  }

  function storeSettings(user: string): Record<string, string> {
    const names = ['S3_ACCESS_KEY', 'S3_SECRET_KEY'];
    return Object.fromEntries(names.map((name) => [name, secrets.read(variableOf(user, name))]));
  }

  function redisUrl(role: Role, user: string): string {
    const url = new URL(secrets.read(variableOf(user, `${role}_REDIS_URL`)));
    url.host = `127.0.0.1:${redis[role].port}`;
    return url.href;
  }

  /** Runs an admin command with the keys of a user. */
  function admin(user: 'admin' | 'sweeper', ...args: string[]): Promise<string> {
    return runAdmin({ ...minio.settings, S3_ENDPOINT: proxy.endpoint, ...storeSettings(user) }, ...args);
  }

  async function uploaded(media: Buffer, options: Parameters<typeof upload>[1] = {}) {
    const { status, text } = await upload(stack, { media, ...options });
    expect({ status, text }).toMatchObject({ status: 200 });
    return JSON.parse(text) as { id: string; url: string };
  }

  const statusAt = async (address: string, init: RequestInit = {}) => {
    const response = await fetch(address, init);
    await response.body?.cancel();
    return response.status;
  };

  // Last in each test: a refused request is a missing right.
  async function expectNothingRefused(): Promise<void> {
    // Any response reveals the store's clock, even a refusal.
    const refused = proxy.seen.filter(({ status, path }) => status === 403 && !path.endsWith('/clock'));
    expect(refused.map(({ method, path, query }) => `${method} ${path}?${query}`).join('\n')).toBe('');
    for (const role of ['QUEUE', 'CACHE'] as const) {
      const login = { user: 'operator', password: secrets.read('REDIS_OPERATOR_PASSWORD') };
      expect({ role, refused: await redis[role].commandAs(login, 'ACL', 'LOG') }).toEqual({ role, refused: '' });
    }
  }

  test('photos and videos are uploaded, shown, listed and removed by their user', async () => {
    const photo = await samplePhoto('png', { width: 640, height: 480 });
    const video = await sampleVideo('mp4', { width: 64, height: 48 });
    const large = Buffer.concat([video, Buffer.from('\x01\x40\x00\x00free', 'latin1'), Buffer.alloc(0x01400000 - 8)]);
    const records = [
      await uploaded(await samplePhoto('jpg', { width: 640, height: 480 }), { version: 1 }),
      await uploaded(photo, { headers: { 'Idempotency-Key': '"one"' } }),
      await uploaded(video),
      await uploaded(large),
    ];
    expect(await uploaded(photo, { headers: { 'Idempotency-Key': '"one"' } })).toEqual(records[1]);
    const [jpg, png, mp4, inParts] = records.map(({ url }) => url);
    const shown = [jpg, png, mp4, inParts].flatMap((url) => [`${url}`, `${url}/large.jpg`]);
    for (const address of [...shown, `${jpg}.jpg`, `${png}.png`, `${mp4}/video.mp4`])
      await expect.poll(() => statusAt(address)).toBe(200);
    const list = await fetch(`${stack.gateway}/2/media.json`, { headers: echoHeaders(stack) });
    expect(((await list.json()) as { media: unknown[] }).media).toHaveLength(records.length);
    for (const { id, url } of records) {
      const removing = { method: 'DELETE', headers: echoHeaders(stack) };
      expect(await statusAt(`${stack.gateway}/2/media/${id}`, removing)).toBe(204);
      for (const address of [url, `${url}/large.jpg`]) await expect.poll(() => statusAt(address)).toBe(410);
    }
    await admin('admin', 'verify-store');
    await expectNothingRefused();
  });

  test('resumable uploads are published and terminated, and the sweep keeps one in progress', async () => {
    const photo = Buffer.concat([await samplePhoto('png', { width: 64, height: 48 }), Buffer.alloc(9_000_000)]);
    const created = async () => `${(await createTus(stack, photo.length)).headers.get('location')}`;
    const published = await created();
    const terminated = await created();
    const running = await created();
    const half = photo.length / 2;
    for (const path of [published, terminated, running])
      expect((await patchTus(stack, path, 0, photo.subarray(0, half))).status).toBe(204);
    expect((await patchTus(stack, published, half, photo.subarray(half))).status).toBe(204);
    expect((await sendTus(stack, 'DELETE', terminated)).status).toBe(204);
    await admin('sweeper', 'sweep', '--yes');
    await admin('admin', 'verify-store');
    expect((await patchTus(stack, running, half, photo.subarray(half))).status).toBe(204);
    await expectNothingRefused();
  });

  test('removes the media of an upload that is refused after storing', async () => {
    const video = await sampleVideo('mp4', { width: 64, height: 48 });
    const { status } = await upload(stack, {
      media: Buffer.concat([Buffer.from('no media at all'), video]),
      version: 1,
    });
    expect(status).toBe(415);
    const ofMedia = (verb: string) =>
      proxy.seen.flatMap(({ method, path }) => (method === verb && path.includes('/media/') ? [path] : []));
    // The write, and a conditional write that conflicts.
    await expect.poll(() => ofMedia('DELETE')).toEqual([...new Set(ofMedia('PUT'))]);
    await expectNothingRefused();
  });

  test('aborts an interrupted multipart upload', async () => {
    const video = await sampleVideo('mp4', { width: 64, height: 48 });
    const { path, headers, body } = uploadRequest(stack, { media: Buffer.concat([video, Buffer.alloc(20 << 20)]) });
    const isAborted = async () =>
      proxy.seen.some(({ method, query, status }) => method === 'DELETE' && query.has('uploadId') && status === 204);
    {
      await using client = await RawClient.connect(stack.gateway);
      client.head(path, headers, body.length);
      await client.flush(body.subarray(0, body.length - 1000));
      const isPart = ({ method, query }: SeenRequest) => method === 'PUT' && query.has('partNumber');
      await waitUntil('two parts', async () => proxy.seen.filter(isPart).length >= 2);
      proxy.seen.length = 0;
    }
    await waitUntil('the end of the multipart upload', isAborted);
    await expectNothingRefused();
  });

  test('a removal ends a long rendition', async () => {
    const removedJobs = async () => {
      const counts = (await stack.metrics('rendition-worker')).matchAll(
        /^echodrop_rendition_job_seconds_count\{.*outcome="removed".* (\d+)$/gm,
      );
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await removedJobs();
    const isFilm = ({ method, path }: SeenRequest) => method === 'PUT' && /\/renditions\/\w+\/film-/.test(path);
    const removal = Promise.withResolvers<void>();
    fate = (request) => (isFilm(request) ? { status: 503, body: '', after: () => removal.promise } : 'passes');
    const { id } = await uploaded(await sampleVideo('avi', { width: 64, height: 48 }));
    await waitUntil('the write of its video', async () => proxy.seen.some(isFilm));
    const isLook = ({ method, path }: SeenRequest) => method === 'HEAD' && path.includes('/blocks/users/');
    await waitUntil('a check for blocks', async () => proxy.seen.slice(proxy.seen.findIndex(isFilm)).some(isLook));
    await admin('admin', 'remove', id);
    fate = () => 'passes';
    removal.resolve();
    await expect.poll(removedJobs).toBeGreaterThan(before);
    await expectNothingRefused();
  });

  test("runs the operator's commands and the sweeper", async () => {
    const { id, url } = await uploaded(await samplePhoto('jpg', { width: 64, height: 48 }));
    await expect.poll(() => statusAt(`${url}/large.jpg`)).toBe(200);
    expect(await admin('admin', 'list')).toContain(id);
    await admin('admin', 'export', stack.provider, `${sandbox.userId}`, join(stack.folder, 'exported'));
    await admin('admin', 'block-user', stack.provider, `${sandbox.userId}`);
    await admin('admin', 'blocks');
    await admin('admin', 'unblock-user', stack.provider, `${sandbox.userId}`);
    await admin('admin', 'rebuild-listings');
    await admin('sweeper', 'sweep', '--yes');
    await admin('admin', 'verify-store', '--bytes');
    await admin('admin', 'remove', id);
    await expect.poll(() => statusAt(url)).toBe(410);
    await admin('admin', 'purge', stack.provider, `${sandbox.userId}`, '--yes');
    await admin('sweeper', 'sweep', '--yes');
    await waitUntil('the report of the sweep', async () => {
      const metrics = await stack.metrics('gateway');
      return /^echodrop_sweep_found_objects/m.test(metrics);
    });
    await expectNothingRefused();
  });
});

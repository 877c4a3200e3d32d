import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import {
  type CountingProxy,
  type Fate,
  type SeenRequest,
  startCountingProxy,
} from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

// No rendition-worker, which also reads the media.
const services = ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'] as const;

const isMediaPut = ({ method, path }: SeenRequest) => method === 'PUT' && path.includes('/media/');
const isRecordPut = ({ method, path }: SeenRequest) => method === 'PUT' && path.includes('/records/');
// Ignores the gateway's regular check for blocks, the checks of site and probe for an exact media key, and the
// rendition-worker's list of the renditions of its job.
const isList = ({ method, path, query }: SeenRequest) =>
  method === 'GET' &&
  path.split('/').filter(Boolean).length < 2 &&
  !/^((blocks|renditions)\/|media\/[0-9a-f]{32}$)/.test(query.get('prefix') ?? '');

describeWithMinio('the requests to MinIO for an upload', {}, (startMinio) => {
  const parts = new AsyncDisposableStack();
  let proxy: CountingProxy;
  let stack: Stack;
  beforeAll(async () => {
    const minio = parts.use(await startMinio());
    proxy = parts.use(await startCountingProxy(minio.endpoint));
    stack = parts.use(await startStack({ services, settings: { ...minio.settings, S3_ENDPOINT: proxy.endpoint } }));
  });
  beforeEach(() => {
    proxy.seen.length = 0;
  });
  afterAll(() => parts.disposeAsync());

  test('a photo: one PUT each of media, record and listing entries, a check that media and record exist, and no read', async () => {
    expect((await upload(stack, { media: await samplePhoto('jpg', { width: 640, height: 480 }) })).status).toBe(200);
    const seen = proxy.seen.filter(isOfObject).map(({ method, path, status }) => `${method} ${kindOf(path)} ${status}`);
    // Listing entries are written concurrently with the record.
    expect([...seen.slice(0, 2), ...seen.slice(2).sort()]).toEqual([
      'PUT media 200',
      'PUT media 412',
      'PUT list 200',
      'PUT list 200',
      'PUT records 200',
      'PUT records 412',
    ]);
    expect(proxy.seen.filter(isList)).toEqual([]);
  });

  test('a video: the same PUTs; neither it nor a large video in parts causes a list request', async () => {
    const video = await sampleVideo('mp4', { width: 64, height: 48 });
    expect((await upload(stack, { media: video })).status).toBe(200);
    const puts = proxy.seen.filter(isOfObject).filter(({ method }) => method === 'PUT');
    const written = puts.filter(({ status }) => status === 200).map(({ path }) => kindOf(path));
    expect(written.sort()).toEqual(['list', 'list', 'media', 'records']);
    const large = Buffer.concat([video, Buffer.from('\x01\x40\x00\x00free', 'latin1'), Buffer.alloc(0x01400000 - 8)]);
    expect((await upload(stack, { media: large })).status).toBe(200);
    expect(proxy.seen.filter(isList)).toEqual([]);
  });
});

describeWithMinio('a write with an unclear outcome', {}, (startMinio) => {
  const parts = new AsyncDisposableStack();
  const fates: Fate[] = [];
  const mediaFates: Fate[] = [];
  let proxy: CountingProxy;
  let stack: Stack;
  beforeAll(async () => {
    const minio = parts.use(await startMinio());
    proxy = parts.use(
      await startCountingProxy(minio.endpoint, (request) => {
        if (isMediaPut(request)) return mediaFates.shift() ?? 'passes';
        return isRecordPut(request) ? (fates.shift() ?? 'passes') : 'passes';
      }),
    );
    stack = parts.use(await startStack({ settings: { ...minio.settings, S3_ENDPOINT: proxy.endpoint } }));
  });
  afterAll(() => parts.disposeAsync());

  test.each<Fate>(['lost', 'held', 'twice', 'overtaken', 'changed', 'swallowed', 'swallowed unread'])(
    'record write %s: exactly one record, with its media',
    async (fate) => {
      proxy.seen.length = 0;
      fates.push(fate);
      const photo = await samplePhoto('jpg', { width: 64, height: 48 });
      const response = await upload(stack, { media: photo });
      expect(response.status).toBe(200);
      const { id, url } = JSON.parse(response.text);
      const written = new Set(proxy.seen.filter(isRecordPut).map(({ path }) => path.split('/').pop()));
      expect([...written]).toEqual([`${id}.json`]);
      // Others are of a probe of the store.
      const media = proxy.seen.find((each) => isMediaPut(each) && each.length === `${photo.length}`)?.path;
      expect(proxy.seen.filter(({ method, path }) => method === 'DELETE' && path === media)).toEqual([]);
      await expect.poll(async () => (await fetch(`${url}/large.jpg`)).status).toBe(200);
      expect(proxy.seen.filter(isList)).toEqual([]);
    },
  );

  test.each<Fate>(['changed', 'swallowed', 'swallowed unread'])(
    'media write %s: the upload is not published',
    async (fate) => {
      mediaFates.push(fate);
      proxy.seen.length = 0;
      const media = await samplePhoto('jpg', { width: 64, height: 48 });
      expect((await upload(stack, { media })).status).toBe(503);
      expect(proxy.seen.filter(isRecordPut)).toEqual([]);
      expect((await upload(stack, { media })).status).toBe(200);
    },
  );
});

// The first segment is the bucket.
function kindOf(path: string): string | undefined {
  return path.split('/')[2]?.replace(/^by-.*/, 'list');
}

function isOfObject({ path }: SeenRequest): boolean {
  return /^\/[^/]+\/(media|records|by-user|by-time)\//.test(path);
}

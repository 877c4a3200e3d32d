import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newMediaKey } from '@echodrop/object-store/object-keys';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addUser, encrypted, type S3Keys, statusOf } from './minio-root.fixture.ts';

const mediaKey = newMediaKey();
const owner = '0'.repeat(32);
const objects = {
  media: `media/${mediaKey}`,
  records: 'records/Ab3dE6gH9j.json',
  renditions: `renditions/${mediaKey}/large-1.jpg`,
  resumable: `resumable/${mediaKey}/1`,
  'by-time': 'by-time/days/82360/8236000000000-Ab3dE6gH9j',
  'by-user': `by-user/${owner}/days/82360/8236000000000-Ab3dE6gH9j`,
  blocks: `blocks/users/${owner}`,
  reports: 'reports/sweep.json',
  'what is not ours': 'other/object',
};
const lists = {
  'the bucket': '',
  'all media': 'media/',
  'one media key': `media/${mediaKey}`,
  'all records': 'records/',
  'records by the start of their ids': 'records/Ab',
  'one record': 'records/Ab3dE6gH9j.json',
  'all renditions': 'renditions/',
  "one upload's renditions": `renditions/${mediaKey}/`,
  'all resumable uploads': 'resumable/',
  'one resumable upload': `resumable/${mediaKey}/`,
  'all uploads': 'by-time/',
  'all owners': 'by-user/',
  "one owner's uploads": `by-user/${owner}/days/`,
  "one owner's uploads of release 0.1.0": `by-user/${owner}/`,
  blocks: 'blocks/users/',
};

/** The rights of each service's keys; everything else is refused. */
const rights: Record<string, readonly string[]> = {
  gateway: [
    ...['PUT media', 'DELETE media', 'GET records', 'PUT records', 'DELETE renditions'],
    ...['PUT by-time', 'DELETE by-time', 'PUT by-user', 'DELETE by-user', 'GET reports'],
    ...['GET resumable', 'PUT resumable', 'DELETE resumable', 'list one resumable upload', 'list one record'],
    ...["list one upload's renditions", "list one owner's uploads", 'list blocks'],
    "list one owner's uploads of release 0.1.0",
  ],
  site: [
    ...['GET records', 'GET renditions', 'list one media key', "list one owner's uploads"],
    "list one owner's uploads of release 0.1.0",
  ],
  'probe-worker': ['GET media'],
  'rendition-worker': [
    ...['GET media', 'GET renditions', 'PUT renditions', 'DELETE renditions', 'GET blocks'],
    "list one upload's renditions",
  ],
  sweeper: [
    ...['GET records', 'DELETE media', 'DELETE renditions', 'PUT by-time', 'PUT by-user', 'PUT reports'],
    ...['GET resumable', 'DELETE resumable', 'list all resumable uploads', 'list one resumable upload'],
    ...['list all media', 'list all records', 'list all renditions', 'list all uploads', 'list all owners'],
    ...["list one upload's renditions", "list one owner's uploads", "list one owner's uploads of release 0.1.0"],
    ...['GET reports', 'list incomplete multipart uploads'],
  ],
  admin: [
    ...['GET', 'PUT', 'DELETE'].flatMap((method) =>
      Object.keys(objects)
        .filter((kind) => kind !== 'what is not ours')
        .map((kind) => `${method} ${kind}`),
    ),
    ...Object.keys(lists).map((what) => `list ${what}`),
    'list incomplete multipart uploads',
  ],
};

describeWithMinio("each service's user in the store", { stoppable: true }, (startMinio) => {
  const parts = new AsyncDisposableStack();
  let minio: RunningMinio;
  const keysOf = (service: string): S3Keys => ({ accessKey: `${service}-1a2b3c4d`, secretKey: `secret of ${service}` });
  const policyOf = (service: string) =>
    readFileSync(join(import.meta.dirname, 'policies', `${service}.json`), 'utf8').replaceAll('BUCKET', minio.bucket);

  beforeAll(async () => {
    minio = parts.use(await startMinio());
    for (const bucket of [minio.bucket, 'another']) expect(await statusOf(minio, minio, 'PUT', `/${bucket}`)).toBe(200);
    for (const service of Object.keys(rights)) {
      await addUser(minio, keysOf(service), `echodrop-${service}`, policyOf(service));
    }
  });
  afterAll(() => parts.disposeAsync());

  const send = (service: string, method: string, path: string, query = '') =>
    statusOf(minio, keysOf(service), method, path, {
      query,
      ...(method === 'PUT' && path !== '/third' && { body: 'bytes' }),
    });

  test.each(Object.keys(rights))('%s has exactly the rights that it needs', async (service) => {
    for (const key of Object.values(objects))
      expect(await statusOf(minio, minio, 'PUT', `/${minio.bucket}/${key}`, { body: 'bytes' })).toBe(200);
    const can: string[] = [];
    const attempt = async (what: string, method: string, path: string, query = '') => {
      const status = await send(service, method, path, query);
      if (status < 300) can.push(what);
      else expect({ what, status }).toEqual({ what, status: 403 });
    };
    for (const method of ['GET', 'PUT', 'DELETE'])
      for (const [kind, key] of Object.entries(objects))
        await attempt(`${method} ${kind}`, method, `/${minio.bucket}/${key}`);
    for (const [what, prefix] of Object.entries(lists))
      await attempt(`list ${what}`, 'GET', `/${minio.bucket}`, `list-type=2&prefix=${encodeURIComponent(prefix)}`);
    await attempt('list incomplete multipart uploads', 'GET', `/${minio.bucket}`, 'uploads=');
    await attempt('read the policy of the bucket', 'GET', `/${minio.bucket}`, 'policy=');
    await attempt('make the bucket public', 'PUT', `/${minio.bucket}`, 'policy=');
    await attempt('remove the bucket', 'DELETE', `/${minio.bucket}`);
    await attempt('list another bucket', 'GET', '/another', 'list-type=2&prefix=');
    await attempt('write into another bucket', 'PUT', `/another/${objects.media}`);
    await attempt('make a bucket', 'PUT', '/third');
    for (const [method, path, query] of adminCalls)
      await attempt(`admin ${path}`, method, `/minio/admin/v3/${path}`, query);
    // MinIO allows both unless a policy denies them.
    const { accessKey, secretKey } = keysOf(service);
    for (const [path, query, sent] of [
      ['add-service-account', '', { accessKey: 'anotherkey', secretKey: 'another secret', name: 'another' }],
      ['add-user', `accessKey=${accessKey}`, { secretKey: 'another secret', status: 'enabled' }],
    ] as const) {
      const body = encrypted(JSON.stringify(sent), secretKey);
      const status = await statusOf(minio, keysOf(service), 'PUT', `/minio/admin/v3/${path}`, { query, body });
      expect({ path, status }).toEqual({ path, status: 403 });
    }
    expect(can.sort()).toEqual([...(rights[service] ?? [])].sort());
    // The request of /readyz.
    expect(await send(service, 'HEAD', `/${minio.bucket}`)).toBe(200);
  });

  // MinIO compares the names of a multi-delete with policies before it resolves "..".
  test.each(Object.keys(rights))('%s cannot delete other objects with a name that contains ".."', async (service) => {
    const keys = Object.values(objects);
    const statusWith = (method: string, key: string) =>
      statusOf(minio, minio, method, `/${minio.bucket}/${key}`, method === 'PUT' ? { body: 'bytes' } : {});
    for (const key of keys) expect(await statusWith('PUT', key)).toBe(200);
    // Each in a request of its own: MinIO would wait for ever for two names of one object.
    for (const start of ['renditions/../', 'media/../', 'resumable/../', 'by-user/a/../../', 'records/x/../../']) {
      const body = `<Delete>${keys.map((key) => `<Object><Key>${start}${key}</Key></Object>`).join('')}</Delete>`;
      const sent = { query: 'delete=', body, more: { 'Content-MD5': hash('md5', body, 'base64') } };
      expect(await statusOf(minio, keysOf(service), 'POST', `/${minio.bucket}`, sent)).toBe(200);
    }
    for (const key of keys) expect([key, await statusWith('HEAD', key)]).toEqual([key, 200]);
  });

  test('old and new keys of a service are valid together, and old ones expire separately', async () => {
    const keys = { accessKey: 'site-5e6f7a8b', secretKey: 'another secret of site' };
    await addUser(minio, keys, 'echodrop-site', policyOf('site'));
    const path = `/${minio.bucket}/${objects.records}`;
    await statusOf(minio, minio, 'PUT', path, { body: 'bytes' });
    expect([await send('site', 'GET', path), await statusOf(minio, keys, 'GET', path)]).toEqual([200, 200]);
    await statusOf(minio, minio, 'DELETE', '/minio/admin/v3/remove-user', { query: 'accessKey=site-1a2b3c4d' });
    expect([await send('site', 'GET', path), await statusOf(minio, keys, 'GET', path)]).toEqual([403, 200]);
    await addUser(minio, keysOf('site'), 'echodrop-site', policyOf('site'));
  });
});

const adminCalls = [
  ['GET', 'info', ''],
  ['GET', 'list-users', ''],
  ['GET', 'list-canned-policies', ''],
  ['PUT', 'add-user', 'accessKey=intruder'],
  ['PUT', 'add-canned-policy', 'name=wide'],
  ['PUT', 'set-user-or-group-policy', 'isGroup=false&policyName=consoleAdmin&userOrGroup=site-1a2b3c4d'],
  ['GET', 'config', ''],
  ['POST', 'service', 'action=restart'],
] as const;

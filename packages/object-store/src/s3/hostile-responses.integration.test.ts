import { createServer, type RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Secret } from '@echodrop/service/secret';
import { listen } from '@echodrop/testkit/servers/listen';
import { afterEach, expect, test } from 'vitest';
import { listObjects } from '../list-objects.ts';
import { type ObjectStore, StoreUnavailable } from '../object-store.ts';
import { readSmallObject } from '../read-small-object.ts';
import { s3ObjectStore } from './s3-object-store.ts';

const key = 'renditions/a';
let parts = new AsyncDisposableStack();

afterEach(async () => {
  await parts.disposeAsync();
  parts = new AsyncDisposableStack();
});

/** A store that responds to everything as `respond` does. */
async function storeThat(respond: RequestListener): Promise<ObjectStore> {
  const { origin: endpoint } = parts.use(await listen(createServer(respond)));
  const keys = { accessKey: new Secret('a'), secretKey: new Secret('b') };
  return parts.use(s3ObjectStore({ endpoint, region: 'us-east-1', bucket: 'b', ...keys }));
}

const bodies: [string, Record<string, string>, string][] = [
  ['of another range', { 'Content-Range': 'bytes 1-10/20' }, '0123456789'],
  ['that begins later', { 'Content-Range': 'bytes 5-9/20' }, '01234'],
  ['of a longer range', { 'Content-Range': 'bytes 0-19/20' }, '01234567890123456789'],
  ['of a range without a size', { 'Content-Range': 'bytes 0-9/*' }, '0123456789'],
  ['without a range', {}, '0123456789'],
  ['longer than its range', { 'Content-Range': 'bytes 0-9/20' }, '0123456789HTTP/1.1 200 OK\r\n'],
  ['shorter than its range', { 'Content-Range': 'bytes 0-9/20' }, '01234'],
];

test.each(bodies)('a response %s is no range of an object', async (_, headers, body) => {
  const store = await storeThat((_request, response) => response.writeHead(206, { ETag: '"a"', ...headers }).end(body));
  const read = async () => {
    const reading = await store.read(key, { range: { offset: 0, length: 10 } });
    const received = await buffer(reading?.body ?? expect.fail('nothing to read'));
    return received.toString();
  };
  await expect(read()).rejects.toThrow(StoreUnavailable);
});

test('no byte beyond a range reaches its reader', async () => {
  const headers = { ETag: '"a"', 'Content-Range': 'bytes 0-9/20' };
  const store = await storeThat((_request, response) => {
    response.writeHead(206, headers).write('0123456789');
    setImmediate(() => response.end('and more'));
  });
  const reading = await store.read(key, { range: { offset: 0, length: 10 } });
  let received = '';
  const reads = (async () => {
    for await (const chunk of reading?.body ?? []) received += chunk;
  })();
  await expect(reads).rejects.toThrow(StoreUnavailable);
  expect(received).toMatch(/^(0123456789)?$/);
});

test.each([
  ['announces few bytes and a range', { 'Content-Range': 'bytes 0-9/10' }],
  ['announces no size', {}],
])('a small object whose response %s, and never ends, is not read into memory', async (_, headers) => {
  let sent = 0;
  const store = await storeThat((_request, response) => {
    response.writeHead(200, { ETag: '"a"', ...headers });
    const more = () => {
      if (response.destroyed) return;
      sent += 64 * 1024;
      response.write(Buffer.alloc(64 * 1024), more);
    };
    more();
  });
  await expect(readSmallObject(store, key, 1024)).rejects.toThrow(StoreUnavailable);
  expect(sent).toBeLessThan(16 * 1024 * 1024);
});

test.each<[string, (store: ObjectStore) => Promise<unknown>]>([
  ['media', (store) => store.put('media/a', Readable.from([Buffer.from('bytes')]))],
  ['a record', (store) => store.commit('records/a.json', Buffer.from('{}'))],
])('%s that the store confirms and does not keep is a failure', async (_, write) => {
  // Each write succeeds, also a conditional one. The tag is none that could be compared.
  const statuses: Record<string, number> = { PUT: 200, HEAD: 404, DELETE: 204 };
  const store = await storeThat(({ method = '' }, response) =>
    response.writeHead(statuses[method] ?? 500, { ETag: '"any"' }).end(),
  );
  await expect(write(store)).rejects.toThrow('missing after a confirmed write');
});

test('an endless error is not read into memory', async () => {
  const store = await storeThat((_request, response) => {
    response.writeHead(403);
    const more = () => response.destroyed || response.write(Buffer.alloc(64 * 1024, 'a'), more);
    more();
  });
  await expect(store.read(key)).rejects.toThrow('object store responded with 403');
  await expect(store.list('media/', { limit: 1 })).rejects.toThrow(StoreUnavailable);
});

const object = (name: string) =>
  `<Contents><Key>${name}</Key><Size>1</Size><ETag>"a"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`;

test.each([
  ['the same page again', ['media/b', 'media/c']],
  ['a key twice', ['media/d', 'media/d']],
  ['keys out of order', ['media/e', 'media/d']],
  ['the key after which it begins', ['media/a']],
  ['keys below another prefix', ['records/z']],
  ['more than were requested', Array.from({ length: 1001 }, (_, n) => `media/x${n.toString().padStart(4, '0')}`)],
])('a list with %s is refused', async (_, keys) => {
  const store = await storeThat((_request, response) =>
    response.end(
      `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>${keys.map(object).join('')}</ListBucketResult>`,
    ),
  );
  await expect(Array.fromAsync(listObjects(store, 'media/', 'media/a'))).rejects.toThrow(StoreUnavailable);
});

test('a list of multipart uploads that does not go on is refused', async () => {
  const upload = '<Upload><Key>a</Key><UploadId>i</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>';
  const next = '<NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>i</NextUploadIdMarker>';
  const store = await storeThat((_request, response) =>
    response.end(
      `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>${next}${upload}</ListMultipartUploadsResult>`,
    ),
  );
  await expect(Array.fromAsync(store.listUnfinishedWrites())).rejects.toThrow(StoreUnavailable);
});

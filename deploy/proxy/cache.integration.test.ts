import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listen } from '@echodrop/testkit/servers/listen';
import { nginx } from '@echodrop/testkit/servers/start-nginx';
import { startProxy } from '@echodrop/testkit/servers/start-proxy';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** Requests until an object is cached. */
const uses = 5;
const page = '<p>A page</p>'.repeat(200);

let resources: AsyncDisposableStack;
let proxy: string;
let folder: string;
let received: IncomingMessage[];
/** The response of the site. */
let respond: (request: IncomingMessage) => { status?: number; headers?: OutgoingHttpHeaders; body?: string | Buffer };

/** Longer than any test lasts. */
const cacheable = { 'X-Accel-Expires': 60, 'Accept-Ranges': 'bytes', ETag: '"tag"' };

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  received = [];
  respond = () => ({ headers: cacheable, body: 'bytes' });
  if (nginx === undefined) return;
  const site = resources.use(
    await listen(
      createServer((request, response) => {
        received.push(request);
        const { status = 200, headers = {}, body = '' } = respond(request);
        response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers });
        response.end(request.method === 'HEAD' ? undefined : body);
      }),
    ),
  );
  ({ origin: proxy, folder } = resources.use(await startProxy(site.origin)));
});
afterEach(() => resources.disposeAsync());

const withNginx = unlessMissing({ nginx: nginx !== undefined });

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  // Without a header, fetch would send its own.
  const response = await fetch(`${proxy}${path}`, { method, headers: { 'Accept-Encoding': 'gzip', ...headers } });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function warm(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<void> {
  for (let n = 0; n < uses; n += 1) await get(path, headers, method);
  received = [];
}

/** nginx may send all of a response before it has cached it. */
async function warmUntilCached(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<void> {
  await warm(path, headers, method);
  await expect
    .poll(async () => {
      received = [];
      await get(path, headers, method);
      return received;
    })
    .toEqual([]);
}

test.each([
  '/Ab3dE6gH9j',
  '/Ab3dE6gH9j.jpg',
  '/Ab3dE6gH9j/large.webp',
  '/by/0af7651916cd43dd8448eb211c80319c',
  '/show/thumb/Ab3dE6gH9j.jpg',
])(
  "%s reaches the site no more after five requests, and the site's permission is not passed on",
  withNginx,
  async (path: string) => {
    await warmUntilCached(path);
    const hit = await get(path);
    expect([hit.status, hit.body, hit.headers.get('etag')]).toEqual([200, 'bytes', '"tag"']);
    expect(hit.headers.has('x-accel-expires')).toBe(false);
    expect(received).toEqual([]);
    const log = () => readFile(join(folder, 'access.log'), 'utf8');
    await expect.poll(log).toMatch(/"cache":"MISS"[\s\S]*"cache":"HIT".*\n$/);
  },
);

test.each([
  ['what the site does not allow', '/Ab3dE6gH9j', {}, { 'Cache-Control': 'public, max-age=86400' }],
  ['a query', '/Ab3dE6gH9j?wait=0', {}, cacheable],
  ['another spelling of an address', '/%41b3dE6gH9j', {}, cacheable],
  ['a request with a cookie', '/Ab3dE6gH9j', { Cookie: 'a=b' }, cacheable],
  ['a request with credentials', '/Ab3dE6gH9j', { Authorization: 'Bearer a' }, cacheable],
  ['a preference among encodings', '/Ab3dE6gH9j', { 'Accept-Encoding': 'gzip;q=0' }, cacheable],
])(
  '%s is not cached',
  withNginx,
  async (_: string, path: string, headers: Record<string, string>, sent: OutgoingHttpHeaders) => {
    respond = () => ({ headers: sent, body: 'bytes' });
    await warm(path, headers);
    await get(path, headers);
    expect(received).toHaveLength(1);
  },
);

test('a cached response is not sent to a request with a cookie', withNginx, async () => {
  await warmUntilCached('/Ab3dE6gH9j');
  await get('/Ab3dE6gH9j', { Cookie: 'a=b' });
  expect(received).toHaveLength(1);
});

test.each([404, 410, 503])('a %i is not cached', withNginx, async (status: number) => {
  respond = () => ({ status, body: 'none' });
  await warm('/Ab3dE6gH9j');
  expect((await get('/Ab3dE6gH9j')).status).toBe(status);
  expect(received).toHaveLength(1);
});

test('each encoding is cached by itself', withNginx, async () => {
  respond = ({ headers }) =>
    headers['accept-encoding']?.toString().includes('gzip')
      ? { headers: { ...cacheable, Vary: 'Accept-Encoding', 'Content-Encoding': 'gzip' }, body: gzipSync(page) }
      : { headers: { ...cacheable, Vary: 'Accept-Encoding' }, body: page };
  // Of two browsers, and of a program whose requests are not cached.
  for (const accepted of ['gzip, deflate, br', 'gzip, deflate'])
    await warmUntilCached('/Ab3dE6gH9j', { 'Accept-Encoding': accepted });
  await warm('/Ab3dE6gH9j', { 'Accept-Encoding': 'identity' });
  const zipped = await get('/Ab3dE6gH9j');
  const plain = await get('/Ab3dE6gH9j', { 'Accept-Encoding': '' });
  expect([zipped.body, zipped.headers.get('content-encoding'), zipped.headers.get('vary')]).toEqual([
    page,
    'gzip',
    'Accept-Encoding',
  ]);
  expect([plain.body, plain.headers.has('content-encoding')]).toEqual([page, false]);
  expect(received).toHaveLength(1);
});

test('the cache serves HEAD and requests for what has changed', withNginx, async () => {
  await warmUntilCached('/Ab3dE6gH9j');
  await warmUntilCached('/Ab3dE6gH9j', {}, 'HEAD');
  const head = await get('/Ab3dE6gH9j', {}, 'HEAD');
  expect([head.status, head.headers.get('content-length'), head.body]).toEqual([200, '5', '']);
  for (const tags of ['W/"tag"', '"tag"', '"other", "tag"', '*']) {
    const unchanged = await get('/Ab3dE6gH9j', { 'If-None-Match': tags });
    expect([unchanged.status, unchanged.body, unchanged.headers.get('etag')]).toEqual([304, '', '"tag"']);
  }
  const conditions = [
    ['If-None-Match', '"other"'],
    ['If-Modified-Since', new Date().toUTCString()],
    ['If-Range', '"other"'],
  ] as const;
  for (const [name, value] of conditions) expect((await get('/Ab3dE6gH9j', { [name]: value })).status).toBe(200);
  expect(received).toEqual([]);
});

test.each<Record<string, string>>([
  { Range: 'bytes=1-2' },
  { Range: 'bytes=1-2', 'If-Range': '"tag"' },
  { Range: 'bytes=0-0,2-2' },
  { Range: 'bytes=9-' },
  { 'If-Match': '"other"' },
  { 'If-Unmodified-Since': new Date(0).toUTCString() },
])('%o of a cached object gets the response of the site', withNginx, async (asked: Record<string, string>) => {
  await warmUntilCached('/Ab3dE6gH9j');
  const headers = { ...cacheable, 'Content-Range': 'bytes */5' };
  for (const status of [200, 206, 416]) {
    respond = () => ({ status, headers, body: status === 416 ? '' : 'yt' });
    const answer = await get('/Ab3dE6gH9j', asked);
    expect([answer.status, answer.body]).toEqual([status, status === 416 ? '' : 'yt']);
    expect(answer.headers.get('content-range')).toBe('bytes */5');
  }
  const sent = Object.fromEntries(Object.entries(asked).map(([name, value]) => [name.toLowerCase(), value]));
  for (const { headers } of received) expect(headers).toMatchObject(sent);
  expect(received).toHaveLength(3);
  expect((await get('/Ab3dE6gH9j')).body).toBe('bytes');
});

test('the site gets the range, condition and method of a request that the cache cannot serve', withNginx, async () => {
  respond = () => ({ body: 'a video' });
  const conditions = { Range: 'bytes=1-2', 'If-Range': '"tag"', 'If-None-Match': '"tag"' };
  for (let n = 0; n <= uses; n += 1) {
    await get('/Ab3dE6gH9j/video.mp4', conditions);
    await get('/Ab3dE6gH9j/video.mp4', {}, 'HEAD');
  }
  const ranged = received.filter(({ method }) => method === 'GET');
  expect(ranged.map(({ headers }) => headers)).toEqual(
    ranged.map(() => expect.objectContaining({ range: 'bytes=1-2', 'if-range': '"tag"', 'if-none-match': '"tag"' })),
  );
  expect(received.filter(({ method }) => method === 'HEAD')).toHaveLength(uses + 1);
});

test('a removal is noticed within five seconds, although readers keep requesting', withNginx, async () => {
  const seconds = 4;
  respond = () => ({ headers: { ...cacheable, 'X-Accel-Expires': seconds }, body: 'bytes' });
  await warmUntilCached('/Ab3dE6gH9j');
  const cachedAt = performance.now();
  respond = () => ({ status: 410, body: 'gone' });
  await expect.poll(async () => (await get('/Ab3dE6gH9j')).status, { interval: 50 }).toBe(410);
  // nginx counts whole seconds.
  expect(performance.now() - cachedAt).toBeLessThan((seconds + 1) * 1000 + 500);
});

import { randomUUID } from 'node:crypto';
import { adminOf } from '@echodrop/testkit/admin-of';
import { anotherUser } from '@echodrop/testkit/another-user';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { tusMetadata } from '@echodrop/testkit/tus-requests';
import { echoHeaders, secretParts, upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

let stack: Stack;
let media: Buffer;

beforeAll(async () => {
  const settings = { API_KEYS: `${sandbox.apiKey},noisy=noisy-key`, CORS_ORIGINS: 'https://pages.example' };
  stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site', 'rendition-worker'],
    settings,
  });
  media = await samplePhoto('jpg', { width: 64, height: 48 });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

async function uploaded(message: string, headers = echoHeaders(stack)): Promise<Record<string, unknown>> {
  const { status, text } = await upload(stack, { media, message, headers });
  expect(status).toBe(200);
  return JSON.parse(text);
}

function send(path: string, method = 'GET', headers: Record<string, string> = echoHeaders(stack)) {
  return fetch(`${stack.gateway}${path}`, { method, headers });
}

async function listed(query = '', headers = echoHeaders(stack)) {
  const response = await send(`/2/media.json${query}`, 'GET', headers);
  expect(response.status).toBe(200);
  return (await response.json()) as { media: Record<string, unknown>[]; next?: string };
}

async function reasonOf(response: Response): Promise<[status: number, reason: string]> {
  const { errors } = (await response.json()) as { errors: [{ reason: string }] };
  return [response.status, errors[0].reason];
}

test('lists the uploads of the user, newest first, in pages, in both formats', async () => {
  expect(await listed()).toEqual({ media: [] });
  const records = [];
  for (const message of ['one', 'two & <three>', 'four']) records.unshift(await uploaded(message));
  const theirs = await uploaded('not mine', anotherUser(stack));
  expect(await listed()).toEqual({ media: records });
  expect(await listed('', anotherUser(stack))).toEqual({ media: [theirs] });

  const { media: first, next } = await listed('?count=2');
  expect(first).toEqual(records.slice(0, 2));
  expect(await listed(`?count=2&after=${next}`)).toEqual({ media: records.slice(2) });

  const xml = await send('/2/media.xml?count=2');
  expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  expect(xml.headers.get('cache-control')).toBe('no-store');
  const text = await xml.text();
  expect(text).toMatch(/^<\?xml [^>]*\?><media><image>.*<\/image><image>.*<\/image><next>[\w-]+<\/next><\/media>$/s);
  expect(text).toContain('<text>two &amp; &lt;three&gt;</text>');
});

test('a deleted upload is in no list, its page and pictures return 410, and its media is removed from the store', async () => {
  const { id, url } = await uploaded('to be removed');
  await expect.poll(async () => (await fetch(`${url}/large.jpg`)).status).toBe(200);
  const response = await send(`/2/media/${id}`, 'DELETE');
  expect([response.status, await response.text(), response.headers.has('x-request-id')]).toEqual([204, '', true]);
  expect((await listed()).media.map((record) => record['id'])).not.toContain(id);
  for (const address of [url, `${url}/large.jpg`])
    await expect.poll(async () => (await fetch(`${address}`)).status).toBe(410);
  expect(await reasonOf(await send(`/2/media/${id}`, 'DELETE'))).toEqual([404, 'not_found']);
  const left = { media: (await stack.stored('media')).length, records: (await stack.stored('records')).length };
  expect(left.records - left.media).toBe(1);
  await expect
    .poll(() => stack.services.gateway.output)
    .toMatch(
      /"audit":true,"trace_id":"[0-9a-f]{32}","action":"remove","requestId":"[\w-]+","mediaId":"\w{10}","mediaKey":"[0-9a-f]{32}","provider":"[^"]+","subject":"12345"/,
    );
});

test('finds an upload by its id, in both formats, until it is removed', async () => {
  const record = await uploaded('by its id');
  const found = await send(`/2/media/${record['id']}.json`);
  expect([found.status, found.headers.get('cache-control'), await found.json()]).toEqual([200, 'no-store', record]);
  const xml = await send(`/2/media/${record['id']}.xml`);
  expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  expect(await xml.text()).toContain('<text>by its id</text>');
  const address = `/2/media/${record['id']}.json`;
  expect(await reasonOf(await send(address, 'GET', anotherUser(stack)))).toEqual([403, 'not_yours']);
  await send(`/2/media/${record['id']}`, 'DELETE');
  expect(await reasonOf(await send(address))).toEqual([410, 'removed']);
  expect(await reasonOf(await send(address, 'GET', anotherUser(stack)))).toEqual([404, 'not_found']);
  expect(await (await send('/2/media/ZZZZZZZZZZ.xml')).text()).toContain('<code>404</code><reason>not_found</reason>');
});

test('a user cannot delete uploads of another user, even of one with the same id at another provider', async () => {
  const { id, url } = await uploaded('mine');
  expect(await reasonOf(await send(`/2/media/${id}`, 'DELETE', anotherUser(stack)))).toEqual([403, 'not_yours']);
  expect((await fetch(`${url}`)).status).toBe(200);
  for (const unknown of ['ZZZZZZZZZZ', '..%2Fmedia', 'x', '%00'])
    expect(await reasonOf(await send(`/2/media/${unknown}`, 'DELETE'))).toEqual([404, 'not_found']);
});

test.each([
  ['GET', '/2/media.json', 401, 'credentials_missing', {}],
  ['DELETE', '/2/media/ZZZZZZZZZZ', 401, 'credentials_missing', {}],
  ['GET', '/2/media/ZZZZZZZZZZ.json', 401, 'credentials_missing', {}],
  ['DELETE', '/2/media/ZZZZZZZZZZ.json', 405, 'method_not_allowed', undefined],
  ['POST', '/2/media.json', 405, 'method_not_allowed', undefined],
  ['GET', '/2/media/ZZZZZZZZZZ', 405, 'method_not_allowed', undefined],
  ['GET', '/1/media.json', 404, 'not_found', undefined],
  ['GET', '/2/media.json?count=0', 400, 'query_malformed', undefined],
  ['GET', '/2/media.json?count=101', 400, 'query_malformed', undefined],
  ['GET', '/2/media.json?count=1&count=2', 400, 'query_malformed', undefined],
  ['GET', '/2/media.json?after=../media', 400, 'query_malformed', undefined],
])('%s %s is refused with %i %s', async (method, path, status, reason, headers) => {
  expect(await reasonOf(await send(path, method, headers))).toEqual([status, reason]);
});

test('a repeat with its Idempotency-Key does not restore a deleted upload', async () => {
  const repeated = { 'Idempotency-Key': randomUUID() };
  const { id } = await uploaded('once', { ...echoHeaders(stack), ...repeated });
  expect((await send(`/2/media/${id}`, 'DELETE')).status).toBe(204);
  const again = await upload(stack, { media, message: 'once', headers: { ...echoHeaders(stack), ...repeated } });
  expect([again.status, JSON.parse(again.text).errors[0].reason]).toEqual([410, 'removed']);
});

test('a blocked user can list and delete uploads, but not upload until unblocked', async () => {
  const { id } = await uploaded('before', anotherUser(stack));
  await adminOf(stack, 'block-user', stack.bearerProvider, '12345');
  await adminOf(stack, 'block-application', 'noisy');
  const reason = async (key: string, headers: Record<string, string>) => {
    const parts = [
      { name: 'key', content: key },
      { name: 'message', content: '' },
      { name: 'media', filename: 'a.jpg', content: media },
    ];
    const { status, text } = await upload(stack, { parts, headers });
    return status === 200 ? 'none' : JSON.parse(text).errors[0].reason;
  };
  const soon = { interval: 500 };
  await expect.poll(() => reason(sandbox.apiKey, anotherUser(stack)), soon).toBe('caller_blocked');
  await expect.poll(() => reason('noisy-key', echoHeaders(stack)), soon).toBe('application_blocked');
  expect(await reason(sandbox.apiKey, echoHeaders(stack))).toBe('none');
  expect((await send(`/2/media/${id}`, 'DELETE', anotherUser(stack))).status).toBe(204);
  await adminOf(stack, 'unblock-user', stack.bearerProvider, '12345');
  await expect.poll(() => reason(sandbox.apiKey, anotherUser(stack)), soon).toBe('none');
});

test('CORS lets a script of a configured origin ask what tus offers', async () => {
  const Origin = 'https://pages.example';
  const preflight = { Origin, 'Access-Control-Request-Method': 'OPTIONS' };
  const allowed = await fetch(`${stack.gateway}/files/`, { method: 'OPTIONS', headers: preflight });
  expect(allowed.headers.get('access-control-allow-methods')).toContain('OPTIONS');
  const { status, headers } = await fetch(`${stack.gateway}/files/`, { method: 'OPTIONS', headers: { Origin } });
  expect(status).toBe(204);
  const exposed = headers.get('access-control-expose-headers')?.split(',') ?? [];
  for (const name of ['Tus-Version', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Checksum-Algorithm']) {
    expect(headers.get(name)).toBeTruthy();
    expect(exposed).toContain(name);
  }
  expect(headers.get('access-control-allow-origin')).toBe(Origin);
});

test('CORS allows requests from configured origins only', async () => {
  // Of any names: libraries add some of their own.
  const names = 'cache-control,traceparent,x-auth-service-provider,x-requested-with,x-verify-credentials-authorization';
  const preflight = (origin: string) =>
    fetch(`${stack.gateway}/2/upload.json`, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': names,
      },
    });
  const allowed = await preflight('https://pages.example');
  expect([allowed.status, allowed.headers.has('x-request-id')]).toEqual([204, true]);
  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://pages.example');
  expect(allowed.headers.get('access-control-allow-headers')).toBe(names);
  for (const origin of ['https://pages.example.org', 'http://pages.example', 'null']) {
    const refused = await preflight(origin);
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([405, null]);
  }
  const headers = { ...echoHeaders(stack), Origin: 'https://pages.example' };
  for (const response of [await send('/2/media.json', 'GET', headers), await send('/2/upload.json', 'POST', headers)])
    expect([response.headers.get('access-control-allow-origin'), response.headers.get('vary')]).toEqual([
      'https://pages.example',
      'Origin',
    ]);
});

test('a bearer token alone, in Authorization, proves its user in every request', async () => {
  const bearer = { Authorization: 'Bearer sandbox-bearer' };
  const key = { name: 'key', content: sandbox.apiKey };
  const parts = [key, { name: 'message', content: 'bearer' }, { name: 'media', filename: 'a.jpg', content: media }];
  const own = await listed('?count=100', anotherUser(stack));
  for (const version of [1, 2] as const) {
    const nameless = { 'X-Auth-Service-Provider': '', 'X-Verify-Credentials-Authorization': '' };
    const headers = { ...(version === 2 && nameless), ...bearer };
    expect(await upload(stack, { version, parts, headers })).toMatchObject({ status: 200 });
  }
  const tus = { ...bearer, 'Tus-Resumable': '1.0.0', 'Upload-Metadata': tusMetadata() };
  const resumable = await fetch(`${stack.gateway}/files/`, {
    method: 'POST',
    headers: { ...tus, 'Upload-Length': `${media.length}`, 'Content-Type': 'application/offset+octet-stream' },
    body: media,
  });
  expect(resumable.status).toBe(201);
  const after = await listed('?count=100', bearer);
  expect(after.media).toHaveLength(own.media.length + 3);
  expect(after).toEqual(await listed('?count=100', anotherUser(stack)));
  const { id } = after.media[0] ?? {};
  expect((await send(`/2/media/${id}.json`, 'GET', bearer)).status).toBe(200);
  expect((await send(`/2/media/${id}`, 'DELETE', bearer)).status).toBe(204);

  const wrong = await upload(stack, { version: 1, parts, headers: { Authorization: 'Bearer wrong' } });
  expect(wrong).toMatchObject({ status: 401, text: expect.stringContaining('credentials_refused') });
  expect(wrong.headers.get('www-authenticate')).toBe('Bearer realm="Echodrop"');
  // A token that a proxy added to a request with secrets goes to no provider.
  const both = { version: 1, parts: [...secretParts, ...parts], headers: { Authorization: 'Bearer wrong' } } as const;
  expect(await upload(stack, both)).toMatchObject({ status: 400, text: expect.stringContaining('Send one.') });
  const none = await upload(stack, { version: 1, parts: parts.slice(0, 2), headers: bearer });
  expect(none).toMatchObject({ status: 400, text: expect.stringContaining('Missing parameter: media') });
});

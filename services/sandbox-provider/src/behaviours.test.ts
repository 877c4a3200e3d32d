import { once } from 'node:events';
import { connect } from 'node:net';
import type { ListeningServer } from '@echodrop/testkit/servers/listen';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { type BehaviourName, behaviourNames } from './behaviours.ts';
import { profileEntries, sandboxProfiles } from './profiles.ts';
import { send, startSandbox } from './sandbox.fixture.ts';
import { header, signedFor } from './sign.fixture.ts';

const known = { authorization: 'Bearer sandbox-bearer' };
const { path } = sandboxProfiles.oidc;

async function requestUser(behaviour: BehaviourName, headers: Record<string, string> = known) {
  await using sandbox = await startSandbox({ behaviour });
  return await send(sandbox.origin + path, headers);
}

test('normal: responds like the real provider', async () => {
  const { status, headers, body } = await requestUser('normal');
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(JSON.parse(body)).toMatchObject({ sub: '12345', preferred_username: 'sandbox' });
  expect(Math.abs(Date.parse(`${headers.date}`) - Date.now())).toBeLessThan(60_000);
});

test('slow: responds after the delay', async () => {
  await using sandbox = await startSandbox({ behaviour: 'slow', slowSeconds: 1 });
  const began = performance.now();
  const { status } = await send(sandbox.origin + path, known);
  expect(status).toBe(200);
  expect(performance.now() - began).toBeGreaterThan(990);
});

test('down: the connection closes without a byte', async () => {
  await using sandbox = await startSandbox({ behaviour: 'down' });
  expect(await rawResponse(sandbox)).toBe('');
});

test('cut-off: the connection closes in the middle of the body', async () => {
  await using sandbox = await startSandbox({ behaviour: 'cut-off' });
  const [head = '', body = ''] = (await rawResponse(sandbox)).split('\r\n\r\n');
  const length = Number(/^Content-Length: (\d+)/m.exec(head)?.[1]);
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(body.length).toBe(Math.floor(length / 2));
});

test('endless: the body never completes', async () => {
  await using sandbox = await startSandbox({ behaviour: 'endless' });
  const socket = openRequest(sandbox);
  const received: Buffer[] = [];
  socket.on('data', (bytes) => received.push(bytes));
  const text = () => Buffer.concat(received).toString('latin1');
  await waitUntil('white space, twice', async () => text().split('\r\n1\r\n ').length > 2);
  expect(text()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n[\s\S]*"sub":"12345"/);
  expect(text()).not.toContain('0\r\n\r\n');
  expect(socket.readableEnded).toBe(false);
  socket.destroy();
});

test.each([
  ['unavailable', 503, { 'retry-after': '30' }],
  ['too-many', 429, { 'retry-after': '30' }],
  ['refusing', 401, { 'www-authenticate': expect.stringContaining('invalid_token') }],
  ['redirect', 302, { location: '/' }],
  ['html', 200, { 'content-type': 'text/html; charset=utf-8' }],
] as const)('%s: responds %i', async (behaviour, status, headers) => {
  const response = await requestUser(behaviour);
  expect(response.status).toBe(status);
  expect(response.headers).toMatchObject(headers);
});

test('html and broken-json are not JSON', async () => {
  for (const behaviour of ['html', 'broken-json'] as const) {
    const { status, body } = await requestUser(behaviour);
    expect(status).toBe(200);
    expect(() => JSON.parse(body)).toThrow();
  }
});

test.each(profileEntries)('no-id, no-name: the response of %s lacks only that', async (name, { path, proof }) => {
  const bodyOf = async (behaviour: BehaviourName) => {
    await using sandbox = await startSandbox({ behaviour });
    const authorization = proof === 'bearer' ? known.authorization : header(signedFor(sandbox.origin + path));
    return Object.keys(JSON.parse((await send(sandbox.origin + path, { authorization })).body));
  };
  const [all, noId, noName] = await Promise.all([bodyOf('normal'), bodyOf('no-id'), bodyOf('no-name')]);
  const missing = (from: string[]) => all.filter((field) => !from.includes(field));
  expect([missing(noId), missing(noName)]).toEqual(
    {
      oauth1: [['id', 'id_str'], ['screen_name']],
      mastodon: [['id'], ['username']],
      oidc: [['sub'], ['preferred_username']],
      wordpress: [['id'], ['slug']],
      matrix: [['user_id'], ['user_id']],
    }[name],
  );
});

test('too-large: valid JSON of more than a megabyte', async () => {
  const { body } = await requestUser('too-large');
  expect(body.length).toBeGreaterThan(1024 * 1024);
  expect(JSON.parse(body)).toMatchObject({ sub: '12345' });
});

test('wrong-clock: an hour behind in the Date header and for timestamps', async () => {
  await using sandbox = await startSandbox({ behaviour: 'wrong-clock' });
  const { status, headers } = await send(sandbox.origin + path, known);
  const behind = (Date.now() - Date.parse(`${headers.date}`)) / 1000;
  expect(status).toBe(200);
  expect(Math.abs(behind - 3600)).toBeLessThan(60);

  const address = sandbox.origin + sandboxProfiles.oauth1.path;
  const statusAt = async (seconds: number) => {
    const oauth_timestamp = String(Math.floor(Date.now() / 1000) + seconds);
    return (await send(address, { authorization: header(signedFor(address, { oauth: { oauth_timestamp } })) })).status;
  };
  expect([await statusAt(0), await statusAt(-3600)]).toEqual([401, 200]);
});

test('no behaviour verifies an unknown user', async () => {
  for (const behaviour of behaviourNames.filter((name) => !['slow', 'down', 'cut-off', 'endless'].includes(name))) {
    const { body } = await requestUser(behaviour, { authorization: 'Bearer nobody' });
    expect([behaviour, body.includes('12345')]).toEqual([behaviour, false]);
  }
});

test.each(behaviourNames)('%s: the page and the form still work', async (behaviour) => {
  await using sandbox = await startSandbox({ behaviour, slowSeconds: 120 });
  const { status, body } = await send(sandbox.origin, {});
  expect(status).toBe(200);
  expect(body).toContain(`Now <strong>${behaviour}</strong>`);
  const form = { 'content-type': 'application/x-www-form-urlencoded', body: 'behaviour=normal' };
  expect((await send(`${sandbox.origin}/behaviour`, { method: 'POST', ...form })).status).toBe(303);
  expect((await send(sandbox.origin + path, known)).status).toBe(200);
});

function openRequest({ origin }: ListeningServer) {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${known.authorization}\r\n\r\n`);
  return socket;
}

async function rawResponse(sandbox: ListeningServer): Promise<string> {
  const socket = openRequest(sandbox);
  const received: Buffer[] = [];
  socket.on('data', (bytes) => received.push(bytes));
  await once(socket, 'close');
  return Buffer.concat(received).toString('latin1');
}

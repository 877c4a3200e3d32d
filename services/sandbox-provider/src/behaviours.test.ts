import { once } from 'node:events';
import { connect } from 'node:net';
import { setBehaviour } from '@echodrop/testkit/provider/sandbox-behaviour';
import type { ListeningServer } from '@echodrop/testkit/servers/listen';
import { oauthHeader, signEcho, signedParameters } from '@echodrop/testkit/sign-echo';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BehaviourName, behaviourNames } from './behaviours.ts';
import { profileEntries, sandboxProfiles } from './profiles.ts';
import { builtInSigner, send, startSandbox } from './sandbox.fixture.ts';

const known = { authorization: 'Bearer sandbox-bearer' };
const { path } = sandboxProfiles.oidc;

let sandbox: ListeningServer;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

async function requestUser(behaviour: BehaviourName, headers: Record<string, string> = known) {
  await setBehaviour(sandbox.origin, behaviour);
  return send(sandbox.origin + path, headers);
}

test('normal: responds like the real provider', async () => {
  const { status, headers, body } = await requestUser('normal');
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(JSON.parse(body)).toMatchObject({ sub: '12345', preferred_username: 'sandbox' });
  expect(Math.abs(Date.parse(`${headers.date}`) - Date.now())).toBeLessThan(60_000);
});

test('slow: responds after the delay', async () => {
  await setBehaviour(sandbox.origin, 'slow', 1);
  const began = performance.now();
  const { status } = await send(sandbox.origin + path, known);
  expect(status).toBe(200);
  expect(performance.now() - began).toBeGreaterThan(990);
});

test('down: the connection closes without a byte', async () => {
  await setBehaviour(sandbox.origin, 'down');
  expect(await rawResponse()).toBe('');
});

test('cut-off: the connection closes in the middle of the body', async () => {
  await setBehaviour(sandbox.origin, 'cut-off');
  const [head = '', body = ''] = (await rawResponse()).split('\r\n\r\n');
  const length = Number(/^Content-Length: (\d+)/m.exec(head)?.[1]);
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(body.length).toBe(Math.floor(length / 2));
});

test('endless: the body never completes', async () => {
  await setBehaviour(sandbox.origin, 'endless');
  const socket = openRequest();
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
    await setBehaviour(sandbox.origin, behaviour);
    const authorization = proof === 'bearer' ? known.authorization : signEcho(sandbox.origin + path, builtInSigner);
    return Object.keys(JSON.parse((await send(sandbox.origin + path, { authorization })).body));
  };
  const all = await bodyOf('normal');
  const missingFrom = async (behaviour: BehaviourName) => {
    const fields = await bodyOf(behaviour);
    return all.filter((field) => !fields.includes(field));
  };
  expect([await missingFrom('no-id'), await missingFrom('no-name')]).toEqual(
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
  const { status, headers } = await requestUser('wrong-clock');
  const behind = (Date.now() - Date.parse(`${headers.date}`)) / 1000;
  expect(status).toBe(200);
  expect(Math.abs(behind - 3600)).toBeLessThan(60);

  const address = sandbox.origin + sandboxProfiles.oauth1.path;
  const statusAt = async (seconds: number) => {
    const oauth_timestamp = String(Math.floor(Date.now() / 1000) + seconds);
    const parameters = signedParameters(address, builtInSigner, { oauth: { oauth_timestamp } });
    return (await send(address, { authorization: oauthHeader(parameters) })).status;
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
  await setBehaviour(sandbox.origin, behaviour, 120);
  const { status, body } = await send(sandbox.origin, {});
  expect(status).toBe(200);
  expect(body).toContain(`Now <strong>${behaviour}</strong>`);
  await setBehaviour(sandbox.origin, 'normal');
  expect((await send(sandbox.origin + path, known)).status).toBe(200);
});

function openRequest() {
  const socket = connect(Number(new URL(sandbox.origin).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${known.authorization}\r\n\r\n`);
  return socket;
}

async function rawResponse(): Promise<string> {
  const socket = openRequest();
  const received: Buffer[] = [];
  socket.on('data', (bytes) => received.push(bytes));
  await once(socket, 'close');
  return Buffer.concat(received).toString('latin1');
}

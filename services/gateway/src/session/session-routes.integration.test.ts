import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Verdict } from '@echodrop/contracts/verification';
import { VerifierUnavailable } from '@echodrop/contracts/verification-client';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { Secret } from '@echodrop/service/secret';
import express from 'express';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Slots } from '../admit/slots.ts';
import { BrowserSessions, useSession } from './browser-sessions.ts';
import { createSessionEvents } from './session-events.ts';
import { sessionRoutes } from './session-routes.ts';

const site = 'https://photos.example';
const provider = 'https://identity.example/verify';
const secret = 'a secret of this test';
const robin: Verdict = {
  outcome: 'verified',
  caller: { provider, subject: '1', userId: 1n, screenName: 'robin' },
};
const verifier = { knownProviders: async () => [provider], verify: vi.fn(), revoke: vi.fn() };
const limits = { slots: 10, perUser: 10, anonymousPerAddress: 10, failuresPerMinutePerAddress: 1000 };
const parts = new AsyncDisposableStack();
let address: string;

/** A server with the routes, and `/headers`, which responds with the credentials that the other routes of a gateway get. */
async function start(secrets: readonly [string, string?], origin = site): Promise<string> {
  const [inUse, other] = secrets;
  const sessions = new BrowserSessions(
    other === undefined ? [new Secret(inUse)] : [new Secret(inUse), new Secret(other)],
    origin,
  );
  const events = createSessionEvents(createLog('gateway', 'silent'), new Metrics('test'));
  const app = express().use(useSession(sessions));
  app.use(sessionRoutes('', { sessions, slots: new Slots(limits, () => {}), verifier, events }));
  app.get('/headers', ({ headers }, response) => {
    const { 'x-auth-service-provider': named, 'x-verify-credentials-authorization': proof } = headers;
    response.json([named, proof]);
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  parts.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  address = await start([secret]);
});
beforeEach(() => {
  verifier.verify.mockResolvedValue(robin);
  verifier.revoke.mockReset().mockResolvedValue(true);
});
afterAll(() => parts.disposeAsync());

const proofOf = (token: string) => ({
  'X-Auth-Service-Provider': provider,
  'X-Verify-Credentials-Authorization': `Bearer ${token}`,
});

/** Begins a session as a page of the site does. @returns its cookies, as the browser sends them, and what the response sets */
async function begin({ token = 'a-token', query = '', to = address, origin = site } = {}) {
  const headers = { Origin: origin, ...proofOf(token) };
  const response = await fetch(`${to}/2/session${query}`, { method: 'POST', headers });
  const set = response.headers.getSetCookie();
  const cookie = set.map((each) => each.split(';', 1)[0]).join('; ');
  return { response, set, cookie };
}

async function headersFor(headers: Record<string, string>, to = address): Promise<unknown> {
  const response = await fetch(`${to}/headers`, { headers });
  return response.json();
}

const ofPage = { Origin: site, 'X-Echodrop-Session': '1' };
const credentials = [provider, 'Bearer a-token'];

test('a page of the site begins a session and learns the public name; its requests then have the credentials', async () => {
  const { response, cookie } = await begin();
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ provider, name: 'robin' });
  expect(await headersFor({ ...ofPage, Cookie: cookie })).toEqual(credentials);
  const sameOrigin = { 'Sec-Fetch-Site': 'same-origin', 'X-Echodrop-Session': '1' };
  expect(await headersFor({ ...sameOrigin, Cookie: `other=1; ${cookie}` })).toEqual(credentials);
});

test('no script reads the cookies, no other site sends them, and no neighbouring host plants them', async () => {
  const { set, cookie } = await begin({ query: '?seconds=3600' });
  expect(cookie).not.toContain('a-token');
  for (const each of set)
    expect(each).toMatch(/^__Host-echodrop-session-\d=.*; Path=\/; .*HttpOnly; Secure; SameSite=Strict$/);
  expect(set[0]).toMatch(/Max-Age=3(600|599);/);
});

test.each([
  ['another origin', { ...ofPage, Origin: 'https://evil.example' }],
  ['a neighbouring host', { ...ofPage, Origin: 'https://sub.photos.example' }],
  ['a sandboxed frame', { ...ofPage, Origin: 'null' }],
  ['a form or a link', { Origin: site }],
  ['a page of the same host on another port', { 'X-Echodrop-Session': '1', 'Sec-Fetch-Site': 'same-site' }],
  ['a program', { 'X-Echodrop-Session': '1' }],
])('%s gets nothing of a session', async (_, headers) => {
  const { cookie } = await begin();
  expect(await headersFor({ ...headers, Cookie: cookie })).toEqual([null, null]);
});

test('credentials of the request itself are used, not those of the session', async () => {
  const { cookie } = await begin();
  const own = proofOf('another-token');
  expect(await headersFor({ ...ofPage, ...own, Cookie: cookie })).toEqual(Object.values(own));
});

test.each<[string, Verdict, number]>([
  ['refuses', { outcome: 'refused' }, 401],
  ['is down', { outcome: 'provider_unavailable', retryAfterSeconds: 10 }, 401],
])('no session begins if the provider %s', async (_, verdict, status) => {
  verifier.verify.mockResolvedValue(verdict);
  const { response, set } = await begin();
  expect([response.status, set]).toEqual([status, []]);
});

test('no session begins for a page of another site', async () => {
  const { response, set } = await begin({ origin: 'https://evil.example' });
  expect([response.status, set]).toEqual([404, []]);
});

test('a session of a token of 6,000 characters takes two cookies; one that is too long is refused', async () => {
  // Random, so that it cannot be compressed further than base64url.
  const random = (length: number) =>
    Array.from({ length }, () => 'abcdefghijklmnopqrstuvwxyz0123456789'.at(Math.floor(Math.random() * 36))).join('');
  const token = random(6000);
  const { set, cookie } = await begin({ token });
  for (const part of cookie.split('; ')) expect(part.length).toBeLessThan(4096);
  expect(set).toHaveLength(2);
  expect(await headersFor({ ...ofPage, Cookie: cookie })).toEqual([provider, `Bearer ${token}`]);
  const { response, set: none } = await begin({ token: random(12_000) });
  expect([response.status, none]).toEqual([431, []]);
});

test('a session ends with its token, and with the secret; a previous secret still opens it', async () => {
  const { cookie } = await begin({ query: '?seconds=60' });
  const rotated = await start(['a new secret of the test', secret]);
  const other = await start(['another secret entirely']);
  expect(await headersFor({ ...ofPage, Cookie: cookie }, rotated)).toEqual(credentials);
  expect(await headersFor({ ...ofPage, Cookie: cookie }, other)).toEqual([null, null]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
  expect(await headersFor({ ...ofPage, Cookie: cookie })).toEqual([null, null]);
  vi.useRealTimers();
});

test('a changed session is none', async () => {
  const { cookie } = await begin();
  const changed = cookie.replace(/(?<=session-0=.{30})./, (one) => (one === 'A' ? 'B' : 'A'));
  expect(changed).not.toBe(cookie);
  for (const each of [changed, cookie.slice(0, 40), 'echodrop-session-0=', '__Host-echodrop-session-0=%%%'])
    expect(await headersFor({ ...ofPage, Cookie: each })).toEqual([null, null]);
});

const application = { endpoint: 'https://identity.example/revoke', clientId: 'an-id', clientSecret: 'a-secret' };

async function end(cookie: string, body: string | undefined, headers: Record<string, string> = ofPage) {
  const response = await fetch(`${address}/2/session`, {
    method: 'DELETE',
    headers: { ...headers, Cookie: cookie, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, result: await response.json(), set: response.headers.getSetCookie() };
}

test('the end of a session removes its cookies, and asks the provider to revoke the token', async () => {
  const { cookie } = await begin();
  const { result, set } = await end(cookie, JSON.stringify(application));
  expect(result).toEqual({ isRevoked: true });
  expect(verifier.revoke).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ provider, token: 'a-token', ...application }),
  );
  for (const each of set) expect(each).toMatch(/^__Host-echodrop-session-\d=; Max-Age=0; Path=\//);
  expect(set).toHaveLength(2);
});

test.each([
  ['without an application', undefined],
  ['with a body that is no JSON', '{'],
  ['with a body that is too long', JSON.stringify({ ...application, clientId: 'x'.repeat(10_000) })],
])('a session ends also %s', async (_, body) => {
  const { cookie } = await begin();
  const { status, result, set } = await end(cookie, body);
  expect([status, result, set.length]).toEqual([200, { isRevoked: false }, 2]);
  expect(verifier.revoke).not.toHaveBeenCalled();
});

test('a session ends also if the verifier is down', async () => {
  verifier.revoke.mockRejectedValue(new VerifierUnavailable('down'));
  const { cookie } = await begin();
  expect(await end(cookie, JSON.stringify(application))).toMatchObject({ status: 200, result: { isRevoked: false } });
});

test('another site ends no session', async () => {
  const { cookie } = await begin();
  const { status, set } = await end(cookie, undefined, { ...ofPage, Origin: 'https://evil.example' });
  expect([status, set]).toEqual([404, []]);
});

test('over plain HTTP, as on this machine, the cookies have no prefix that browsers would refuse', async () => {
  const local = 'http://127.0.0.1:8081';
  const to = await start([secret], local);
  const { set, cookie } = await begin({ to, origin: local });
  expect(set[0]).toMatch(/^echodrop-session-0=.*HttpOnly; SameSite=Strict$/);
  expect(await headersFor({ ...ofPage, Origin: local, Cookie: cookie }, to)).toEqual(credentials);
});

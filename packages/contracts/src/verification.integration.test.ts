import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RotatedSecret } from '@echodrop/service/env';
import { createLog } from '@echodrop/service/log';
import { Secret } from '@echodrop/service/secret';
import { freePorts } from '@echodrop/testkit/free-ports';
import { patienceMs } from '@echodrop/testkit/patience';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type Credentials,
  forgetPath,
  maxRequestBytes,
  type ProviderUser,
  providersPath,
  type Verdict,
  type VerificationRequest,
  verifyPath,
} from './verification.ts';
import { VerificationClient, VerifierUnavailable } from './verification-client.ts';
import { verificationServer } from './verification-server.ts';

const secret = 'a secret of this test';
const provider = 'https://identity.example/verify.json';
const verification: VerificationRequest = {
  credentials: { version: 2, provider, authorization: 'OAuth a="b"' },
  clientAddress: '192.0.2.1',
};
const never = new AbortController().signal;

let parts: AsyncDisposableStack;
let server: Server;
let received: VerificationRequest[];
let forgotten: ProviderUser[];
let verdict: Verdict | Error;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  received = [];
  forgotten = [];
  verdict = { outcome: 'refused' };
  server = await listening(serverThatAccepts([new Secret(secret)]));
});

afterEach(() => parts.disposeAsync());

function serverThatAccepts(secret: RotatedSecret): Server {
  return verificationServer({
    secret,
    providers: [provider, 'https://second.example/'],
    async verify(body) {
      received.push(body);
      if (verdict instanceof Error) throw verdict;
      return verdict;
    },
    async forget(user) {
      if (verdict instanceof Error) throw verdict;
      forgotten.push(user);
    },
    log: createLog('auth-verifier', 'silent'),
  });
}

async function listening(created: Server): Promise<Server> {
  created.listen(0, '127.0.0.1');
  await once(created, 'listening');
  parts.defer(() => {
    created.close();
    created.closeAllConnections();
  });
  return created;
}

function addressOf(of: Server): string {
  return `http://127.0.0.1:${(of.address() as AddressInfo).port}`;
}

function client({ at = addressOf(server), deadlineMs = patienceMs } = {}): VerificationClient {
  return parts.use(new VerificationClient({ address: at, secret: [new Secret(secret)], deadlineMs }));
}

test.each<Verdict>([
  { outcome: 'refused' },
  { outcome: 'provider_unknown' },
  { outcome: 'provider_unavailable', retryAfterSeconds: 10 },
  {
    outcome: 'verified',
    caller: { provider, subject: '18446744073709551615', userId: 18446744073709551615n, screenName: 'Mía \u{1F600}' },
  },
  { outcome: 'verified', caller: { provider, subject: '-1', userId: -(2n ** 63n), screenName: '"\\\n' } },
])('$outcome arrives unchanged', async (given) => {
  verdict = given;
  expect(await client().verify(verification, never)).toEqual(given);
});

const anyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1');

const longest = 'ä'.repeat(32 * 1024);

test.each<Credentials>([
  { version: 2, provider, authorization: `OAuth  realm = "${anyByte}",\t` },
  { version: 1, consumerToken: 'a', consumerSecret: anyByte, oauthToken: '😀', oauthSecret: '' },
  // The longest possible request.
  { version: 1, consumerToken: longest, consumerSecret: longest, oauthToken: longest, oauthSecret: longest },
])('credentials of version $version arrive unchanged', async (sent) => {
  await client().verify({ credentials: sent, clientAddress: '2001:db8::1' }, never);
  expect(received).toEqual([{ credentials: sent, clientAddress: '2001:db8::1' }]);
});

test('the known providers arrive in order', async () => {
  expect(await client().knownProviders()).toEqual([provider, 'https://second.example/']);
});

test('concurrent callers share one request for the known providers, who are fetched again after ten seconds, and kept while the verifier is down', async () => {
  let requests = 0;
  const other = await listening(
    createServer((_, response) => {
      requests += 1;
      response.writeHead(requests < 3 ? 200 : 500).end(JSON.stringify([`https://${requests}.example/`]));
    }),
  );
  const verifier = client({ at: addressOf(other) });
  const begin = performance.now();
  let passedMs = 0;
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => begin + passedMs);
  const providers: string[] = [];
  for (const seconds of [0, 9, 2, 11]) {
    passedMs += seconds * 1000;
    const [one, two] = await Promise.all([verifier.knownProviders(), verifier.knownProviders()]);
    expect(one).toEqual(two);
    providers.push(...one);
  }
  expect(providers).toEqual(['https://1.example/', 'https://1.example/', 'https://2.example/', 'https://2.example/']);
  expect(requests).toBe(3);
});

/** Sends a raw request to the verifier and returns the status of the response. */
async function statusOf(path: string, headers: Record<string, string>, body?: string): Promise<number | undefined> {
  const sent = request(addressOf(server) + path, { method: body === undefined ? 'GET' : 'POST', headers });
  sent.on('error', () => {}).end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

const authorized = { authorization: `Bearer ${secret}` };

test.each([
  ['no secret', verifyPath, {}, '{}', 401],
  ['a wrong secret', verifyPath, { authorization: 'Bearer wrong' }, '{}', 401],
  ['the secret without its scheme', verifyPath, { authorization: secret }, '{}', 401],
  ['a wrong secret at an unknown path', '/nowhere', { authorization: 'Bearer wrong' }, '{}', 401],
  ['a wrong secret for the providers', providersPath, { authorization: 'Bearer wrong' }, undefined, 401],
  ['an unknown path', '/nowhere', authorized, '{}', 404],
  ['a GET of the verify path', verifyPath, authorized, undefined, 404],
  ['a GET of the forget path', forgetPath, authorized, undefined, 404],
  ['a user without a subject', forgetPath, authorized, '{"provider":"a"}', 400],
  [
    'a wrong secret for forgetting',
    forgetPath,
    { authorization: 'Bearer wrong' },
    '{"provider":"a","subject":"1"}',
    401,
  ],
  ['a POST of the providers path', providersPath, authorized, '{}', 404],
  ['invalid JSON', verifyPath, authorized, 'version=2', 400],
  ['credentials of a later version', verifyPath, authorized, '{"credentials":{"version":3},"clientAddress":""}', 400],
  [
    'incomplete credentials',
    verifyPath,
    authorized,
    '{"credentials":{"version":2,"provider":"a"},"clientAddress":""}',
    400,
  ],
  [
    'no client address',
    verifyPath,
    authorized,
    '{"credentials":{"version":2,"provider":"a","authorization":"b"}}',
    400,
  ],
])('%s is refused, and verifies no user', async (_, path, headers, body, status) => {
  expect(await statusOf(path, headers, body)).toBe(status);
  expect([...received, ...forgotten]).toEqual([]);
});

test.each([
  ['declares too great a length', { 'content-length': String(maxRequestBytes + 1) }],
  ['does not declare its length', { 'transfer-encoding': 'chunked' }],
])('a request that %s is refused before it is read', async (_, headers) => {
  const sent = request(addressOf(server) + verifyPath, { method: 'POST', headers: { ...authorized, ...headers } });
  sent.on('error', () => {}).write('{');
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(400);
  sent.destroy();
});

test('an error in verification is VerifierUnavailable, and the next request succeeds', async () => {
  const verifier = client();
  verdict = new Error('an internal error');
  await expect(verifier.verify(verification, never)).rejects.toThrow(VerifierUnavailable);
  verdict = { outcome: 'refused' };
  expect(await verifier.verify(verification, never)).toEqual({ outcome: 'refused' });
});

test.each([
  ['a body that is too large', `${' '.repeat(64 * 1024)}{"outcome":"refused"}`],
  ['invalid JSON', '<html>'],
  ['an unknown outcome', '{"outcome":"maybe"}'],
  ['a caller without a name', '{"outcome":"verified","caller":{"provider":"a","subject":"1","userId":"1"}}'],
  [
    'a user id that is a number',
    '{"outcome":"verified","caller":{"provider":"a","subject":"1","userId":1,"screenName":"a"}}',
  ],
])('a verifier that responds with %s is unavailable', async (_, body) => {
  const other = await listening(createServer((__, response) => response.end(body)));
  const verifier = client({ at: addressOf(other) });
  await expect(verifier.verify(verification, never)).rejects.toThrow(VerifierUnavailable);
  await expect(verifier.knownProviders()).rejects.toThrow(VerifierUnavailable);
});

test("an aborted request rejects with the signal's reason", async () => {
  const silent = await listening(createServer(() => {}));
  const verifier = client({ at: addressOf(silent) });
  const leaving = new AbortController();
  const verifying = verifier.verify(verification, leaving.signal);
  await once(silent, 'request');
  leaving.abort(new Error('client went away'));
  await expect(verifying).rejects.toThrow('client went away');
  await expect(verifier.verify(verification, leaving.signal)).rejects.toThrow('client went away');
});

test('a verifier that is down or hangs is unavailable in time, and serves the same client after recovery', async () => {
  const { verifier: port } = await freePorts(['verifier']);
  const at = `http://127.0.0.1:${port}`;
  const program = join(import.meta.dirname, 'verification-server.fixture.ts');
  const isReady = () => fetch(at).then(({ status }) => status === 401);
  await using process_ = await ServerProcess.start({
    command: [process.execPath, program, `${port}`, secret],
    isReady,
  });
  const verifier = client({ at });
  const hurried = client({ at, deadlineMs: 1000 });
  const expectRefused = () => expect(verifier.verify(verification, never)).resolves.toEqual({ outcome: 'refused' });
  // A healthy verifier on a busy machine may exceed the deadline of the hurried client.
  const recovered = async () => {
    await expectRefused();
    await waitUntil('a verdict', async () => (await hurried.verify(verification, never)).outcome === 'refused');
  };
  const unavailable = async () => {
    const begin = performance.now();
    await expect(hurried.verify(verification, never)).rejects.toThrow(VerifierUnavailable);
    await expect(client({ at, deadlineMs: 1000 }).knownProviders()).rejects.toThrow(VerifierUnavailable);
    expect(performance.now() - begin).toBeLessThan(30_000);
  };

  await Promise.all(Array.from({ length: 20 }, expectRefused));
  await recovered();
  await process_.freeze();
  await unavailable();
  await process_.thaw();
  await recovered();
  await process_.kill();
  await unavailable();
  await expect(verifier.verify(verification, never)).rejects.toThrow(VerifierUnavailable);
  await process_.restart();
  await recovered();
  // Restarted between two requests, so that every kept-alive connection is dead.
  await process_.restart();
  await expectRefused();
  expect(await verifier.knownProviders()).toEqual([provider]);
});

test('forgets a user, and reports a failure', async () => {
  await client().forget({ provider, subject: 'mía' });
  expect(forgotten).toEqual([{ provider, subject: 'mía' }]);
  verdict = new Error('no cache');
  await expect(client().forget({ provider, subject: 'mía' })).rejects.toThrow(VerifierUnavailable);
});

test('during a rotation both secrets are accepted, and a client sends the first', async () => {
  const older = new Secret('an older secret');
  const newer = new Secret('a newer secret');
  const exchanging = addressOf(await listening(serverThatAccepts([newer, older])));
  for (const knows of [[older], [newer], [newer, older], [older, newer]] as const) {
    await using verifier = new VerificationClient({ address: exchanging, secret: knows, deadlineMs: patienceMs });
    expect(await verifier.verify(verification, never)).toEqual({ outcome: 'refused' });
  }
  const exchanged = addressOf(await listening(serverThatAccepts([newer])));
  await using late = new VerificationClient({ address: exchanged, secret: [older, newer], deadlineMs: patienceMs });
  await expect(late.verify(verification, never)).rejects.toThrow(VerifierUnavailable);
});

test('a request that does not arrive in time is refused', async () => {
  Object.assign(server, { requestTimeout: 500, headersTimeout: 500 });
  const sent = request(addressOf(server) + verifyPath, {
    method: 'POST',
    headers: { ...authorized, 'content-length': '100' },
  });
  sent.on('error', () => {}).write('{');
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(408);
});

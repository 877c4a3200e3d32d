import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, expect, test, vi } from 'vitest';
import { listen, wasCutOff } from './http-server.ts';

// The end of the grace period, and Node's end of an idle connection after 75 s, are far beyond `soonMs`.
const defaultGraceSeconds = 120;
const soonMs = 30_000;

let agent: Agent;
let stop: AbortController;
let server: Server;
let listener: AsyncDisposable;
let port: number;

/** Starts a server with the handler `respond`, and a client with one keep-alive connection. */
async function start(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
  graceSeconds = defaultGraceSeconds,
) {
  await startWith(createServer(respond), graceSeconds);
}

async function startWith(withHandlers: Server, graceSeconds: number) {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  stop = new AbortController();
  server = withHandlers;
  listener = await listen(server, { host: '127.0.0.1', port: 0, stopping: stop.signal, graceSeconds });
  port = (server.address() as AddressInfo).port;
}

afterEach(async () => {
  vi.useRealTimers();
  agent.destroy();
  await listener[Symbol.asyncDispose]();
});

function send(headers: Record<string, string> = {}) {
  return request({ port, method: 'POST', agent, headers });
}

async function received(request = send().end()): Promise<IncomingMessage & { body: string }> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return Object.assign(response, { body: await text(response) });
}

async function disposeMs(): Promise<number> {
  const begin = performance.now();
  await listener[Symbol.asyncDispose]();
  return performance.now() - begin;
}

test('keeps connections alive until shutdown; then every response closes its connection', async () => {
  await start((_, response) => response.end('a'));
  expect((await received()).headers.connection).toBe('keep-alive');
  stop.abort();
  expect((await received()).headers.connection).toBe('close');
});

test('a response to an earlier request closes its connection too', async () => {
  const running = Promise.withResolvers<ServerResponse>();
  await start((_, response) => running.resolve(response));
  const whole = received();
  const response = await running.promise;
  stop.abort();
  response.end('a');
  expect((await whole).headers.connection).toBe('close');
});

test('a running request may finish within the grace period, and idle connections do not delay the end', async () => {
  const running = Promise.withResolvers<ServerResponse>();
  await start((_, response) => {
    response.write('half');
    running.resolve(response);
  });
  const whole = received();
  const response = await running.promise;
  stop.abort();
  const disposed = disposeMs();
  await expect.poll(() => server.listening).toBe(false);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  response.end(' and half');
  expect((await whole).body).toBe('half and half');
  expect(await disposed).toBeLessThan(soonMs);
});

test.each([
  ['refuses', false],
  ['handles', true],
])('pipelined responses before a CONNECT, which the server %s, close with their connection', async (_does, handles) => {
  const all: ServerResponse[] = [];
  const closed = vi.fn();
  await start((_, response) => void all.push(response.once('close', closed)));
  if (handles) server.on('connect', (_request, socket) => socket.on('error', () => {}).resume());
  const client = connect(port, '127.0.0.1');
  const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  client.on('error', () => {}).write(`${get}${get}${get}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
  await waitUntil('three requests', async () => all.length === 3);
  client.resetAndDestroy();
  await waitUntil('the ends of three responses', async () => closed.mock.calls.length === 3);
});

/** Stops the clock of the server; `vi.advanceTimersByTime` advances it. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

test('handles a request in transit on an open connection when the listener closes', async () => {
  await start((_, response) => response.end('a'));
  await received();
  stopClock();
  stop.abort();
  const disposed = disposeMs();
  await waitUntil('the end of the listener', async () => !server.listening);
  const { headers, body } = await received();
  expect([headers.connection, body]).toEqual(['close', 'a']);
  expect(await disposed).toBe(0);
});

/** A connection without a request; `ended` resolves when the server closes it. */
async function silentConnection(): Promise<{ ended: Promise<unknown> }> {
  const silent = connect(port, '127.0.0.1').resume();
  await once(server, 'connection');
  return { ended: once(silent, 'close') };
}

test.each([
  ['an idle connection', () => received()],
  ['a connection without any request', () => silentConnection()],
])('%s does not delay the end', async (_, connect) => {
  await start((_request, response) => response.end('a'));
  await connect();
  stop.abort();
  expect(await disposeMs()).toBeLessThan(soonMs);
});

test('many connections without any request do not prevent a response', async () => {
  const running = Promise.withResolvers<ServerResponse>();
  await start((_, response) => running.resolve(response));
  const request = received();
  const response = await running.promise;
  const silent = [];
  for (let n = 0; n < 30; n += 1) silent.push(await silentConnection());
  stop.abort();
  const disposed = disposeMs();
  await Promise.all(silent.map(({ ended }) => ended));
  response.end('a');
  expect((await request).body).toBe('a');
  expect(await disposed).toBeLessThan(soonMs);
});

test('handles a late request of a connected client during the shutdown', async () => {
  await start((_, response) => response.end('a'));
  stopClock();
  const slow = connect(port, '127.0.0.1');
  await once(server, 'connection');
  stop.abort();
  const disposed = disposeMs();
  await waitUntil('the end of the listener', async () => !server.listening);
  vi.advanceTimersByTime(1200);
  slow.end('GET / HTTP/1.1\r\nHost: any\r\n\r\n');
  expect(await text(slow)).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(await disposed).toBe(1200);
});

test('waits for the rest of a request head', async () => {
  await start((_, response) => response.end('a'));
  const slow = connect(port, '127.0.0.1');
  const [accepted] = await once(server, 'connection');
  slow.write('GET / HTTP/1.1\r\n');
  await expect.poll(() => accepted.bytesRead).toBeGreaterThan(0);
  const { ended } = await silentConnection();
  stop.abort();
  const disposed = disposeMs();
  await ended;
  slow.write('Host: a\r\n\r\n');
  expect(await text(slow)).toContain('200 OK');
  expect(await disposed).toBeLessThan(soonMs);
});

test('waits for the second of two pipelined requests, too', async () => {
  const second = Promise.withResolvers<ServerResponse>();
  await start(({ url }, response) => (url === '/1' ? response.end('a') : second.resolve(response)));
  const client = connect(port, '127.0.0.1');
  client.write(['/1', '/2'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  const received = text(client);
  const response = await second.promise;
  const { ended } = await silentConnection();
  stop.abort();
  const disposed = disposeMs();
  await ended;
  response.end('b');
  expect(await received).toMatch(/200 OK.*200 OK.*b/s);
  expect(await disposed).toBeLessThan(soonMs);
});

test('completes a response to a slow reader, and closes other idle connections', async () => {
  const bytes = Buffer.alloc(32 * 1024 * 1024, 'a');
  await start(({ method }, response) => response.end(method === 'POST' ? bytes : 'a'));
  const idle = connect(port, '127.0.0.1');
  idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(idle, 'data');
  const idleEnded = once(idle, 'close');
  const [response] = (await once(send().end(), 'response')) as [IncomingMessage];
  const { ended } = await silentConnection();
  stop.abort();
  const disposed = disposeMs();
  await Promise.all([ended, idleEnded]);
  expect((await buffer(response)).equals(bytes)).toBe(true);
  expect(await disposed).toBeLessThan(soonMs);
});

test('cuts off responses after the grace period, and distinguishes them from responses that clients aborted', async () => {
  await start((_, response) => response.write('half'), 0.2);
  const given = connect(port, '127.0.0.1', () => given.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
  const [, givenUp] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  given.destroy();
  await once(givenUp, 'close');
  const response = received();
  response.catch(() => {});
  const [, cut] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  expect(await disposeMs()).toBeLessThan(soonMs);
  await expect(response).rejects.toThrow('aborted');
  expect([givenUp, cut].map(wasCutOff)).toEqual([false, true]);
});

test('sends 100 Continue if the server does not handle it', async () => {
  await start(async (incoming, response) => response.end(await text(incoming)));
  const request = send({ Expect: '100-continue' });
  request.flushHeaders();
  await once(request, 'continue');
  expect((await received(request.end('body'))).body).toBe('body');
});

test('a server that handles 100 Continue also closes the connection', async () => {
  await startWith(
    createServer().on('checkContinue', (_, response) => response.writeHead(401).end()),
    5,
  );
  stop.abort();
  const request = send({ Expect: '100-continue' });
  request.flushHeaders();
  const { statusCode, headers } = await received(request);
  expect([statusCode, headers.connection]).toEqual([401, 'close']);
  request.end();
});

test('a request with an unknown expectation is as any other', async () => {
  await start((incoming, response) => response.writeHead(418).end(incoming.headers.expect));
  stop.abort();
  const { statusCode, headers, body } = await received(send({ Expect: 'tea' }).end());
  expect([statusCode, headers.connection, body]).toEqual([418, 'close', 'tea']);
});

test('a request for an upgrade is as any other, and the last of its connection', async () => {
  await start(async (incoming, response) => response.end(await text(incoming)));
  const request = send({ Connection: 'Upgrade', Upgrade: 'websocket' }).end('body');
  const { statusCode, headers, body } = await received(request);
  expect([statusCode, headers.connection, body]).toEqual([200, 'close', 'body']);
});

test('rejects an address in use', async () => {
  await start((_, response) => response.end());
  const second = listen(createServer(), { host: '127.0.0.1', port, stopping: stop.signal, graceSeconds: 0 });
  await expect(second).rejects.toThrow('EADDRINUSE');
});

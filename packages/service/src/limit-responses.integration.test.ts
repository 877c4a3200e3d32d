import { EventEmitter, once } from 'node:events';
import { createServer, IncomingMessage, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { listen } from '@echodrop/testkit/servers/listen';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  idleCheckMs,
  limitResponses,
  maxPauseMs,
  maxPendingBytes,
  minBytesPerMinute,
  restOfBody,
} from './limit-responses.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics/metrics.ts';

const minuteMs = 60_000;
// More than the system takes for a connection that does not read.
const large = Buffer.alloc(16 * 1024 * 1024);

let parts: AsyncDisposableStack;
let metrics: Metrics;
let port: number;

beforeEach(() => {
  parts = new AsyncDisposableStack();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await parts.disposeAsync();
});

async function start(app: RequestListener): Promise<void> {
  metrics = new Metrics('site');
  const { origin } = parts.use(await listen(createServer(limitResponses(app, metrics, createLog('site', 'silent')))));
  port = Number(new URL(origin).port);
}

/** A client that has sent `requests`, and reads nothing. */
async function send(requests: string): Promise<Socket> {
  const socket = parts.adopt(connect(port, '127.0.0.1'), (open) => void open.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(requests);
  return socket.pause();
}

const get = (path = '/', headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

async function closed(): Promise<Record<string, number>> {
  const lines = (await metrics.exposition()).text.matchAll(
    /^echodrop_connections_closed_total\{reason="(\w+)".*\} (\d+)$/gm,
  );
  return Object.fromEntries(
    [...lines].map(([, reason, count]) => [reason, Number(count)]).filter(([, count]) => count),
  );
}
const isClosed = (reason: string, count = 1) =>
  waitUntil(`${count} closed: ${reason}`, async () => (await closed())[reason] === count);

test('a reader that takes nothing for three minutes loses its connection', async () => {
  const pending = Promise.withResolvers<void>();
  await start((_, response) => response.end(large, () => pending.resolve()).once('close', () => pending.resolve()));
  const client = await send(get());
  await waitUntil('a request', async () => vi.getTimerCount() > 0);
  vi.advanceTimersByTime(maxPauseMs - 1000);
  expect(await closed()).toEqual({});
  vi.advanceTimersByTime(2000);
  await pending.promise;
  expect(await closed()).toEqual({ too_slow: 1 });
  // The connection is reset, so that the system forgets its bytes.
  await expect(text(client)).rejects.toThrow('ECONNRESET');
});

/** What a reader takes: after so many milliseconds so many bytes. */
type Step = readonly [ms: number, bytes: number];
const enough: Step = [minuteMs, minBytesPerMinute];
const half: Step = [minuteMs, minBytesPerMinute / 2];
const longPause: Step = [maxPauseMs - 1000, 1.3e6];

// What the system takes for a real connection has no exact rate.
test.each<[string, Step[], boolean]>([
  ['takes the least that is enough each minute', [enough, enough, enough], false],
  ['takes half of that', [half, half], true],
  [
    'takes megabytes at once, and nothing for less than three minutes, again and again',
    [[1000, 1.3e6], longPause, longPause],
    false,
  ],
  [
    'takes megabytes at once, and then nothing for three minutes',
    [
      [1000, 4e6],
      [maxPauseMs, 0],
    ],
    true,
  ],
])('a reader that %s: %j, is closed: %s', (_, steps, isClosedEach) => {
  const resetAndDestroy = vi.fn(() => Object.assign(socket, { destroyed: true }));
  const socket = Object.assign(new EventEmitter(), {
    bytesWritten: 1,
    writableLength: 1,
    destroyed: false,
    resetAndDestroy,
  });
  const response = Object.assign(new EventEmitter(), {
    writableLength: 1,
    getMaxListeners: () => 10,
    setMaxListeners: () => response,
  });
  metrics = new Metrics('site');
  limitResponses(() => {}, metrics, createLog('site', 'silent'))({ socket } as never, response as never);
  for (const [ms, bytes] of steps) {
    // In the last moment.
    vi.advanceTimersByTime(ms - 1);
    socket.bytesWritten += bytes;
    vi.advanceTimersByTime(1);
  }
  expect(resetAndDestroy).toHaveBeenCalledTimes(isClosedEach ? 1 : 0);
});

test('a response that waits for its server is not closed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await start((_, response) => void promise.then(() => response.end('late')));
  const client = await send(get('/', 'Connection: close\r\n'));
  await waitUntil('a request', async () => vi.getTimerCount() > 0);
  vi.advanceTimersByTime(10 * minuteMs);
  resolve();
  expect(await text(client)).toMatch(/late$/);
});

test('while responses hold too much, the slowest readers of the address that holds the most lose their connections', async () => {
  const each = maxPendingBytes / 8;
  let count = 0;
  await start((request, response) => {
    count += 1;
    Object.assign(request, { ip: request.headers['x-from'] });
    response.end(Buffer.alloc(each));
  });
  const one = await send(get('/', 'X-From: one\r\n'));
  for (let n = 0; n < 9; n += 1) await send(get('/', 'X-From: many\r\n'));
  await waitUntil('all requests', async () => count === 10);
  vi.advanceTimersByTime(250);
  const { memory = 0 } = await closed();
  // The system has taken a part of each.
  expect(memory).toBeGreaterThan(0);
  expect(memory).toBeLessThan(4);
  one.end();
  expect((await text(one)).length).toBeGreaterThan(each);
});

test('a fifth pipelined request is not handled, and closes the connection', async () => {
  const handled: string[] = [];
  await start(({ url = '' }) => void handled.push(url));
  const client = await send(['/1', '/2', '/3', '/4', '/5', '/6'].map((path) => get(path)).join(''));
  client.resume();
  await waitUntil('the end of the connection', async () => client.closed);
  expect(handled).toEqual(['/1', '/2', '/3', '/4']);
  expect(await closed()).toEqual({ pipelined: 1 });
});

test('requests one after the other are no pipelined ones', async () => {
  await start((_, response) => response.end('a'));
  for (let n = 0; n < 3; n += 1) {
    const client = await send(get());
    for (let count = 0; count < 6; count += 1) {
      await once(client.resume(), 'data');
      client.write(get());
    }
  }
  expect(await closed()).toEqual({});
});

test('the rest of a body is cut off 30 s after the response', async () => {
  await start((_, response) => response.end('a'));
  const client = await send(get('/', 'Content-Length: 1000\r\n'));
  await once(client.resume(), 'data');
  vi.advanceTimersByTime(restOfBody.maxMs - 1000);
  client.write('x');
  expect(await closed()).toEqual({});
  vi.advanceTimersByTime(2000);
  await waitUntil('the end of the connection', async () => client.closed);
  expect(await closed()).toEqual({ body_after_response: 1 });
});

test('more than 32 MiB after the response are cut off', async () => {
  await start((_, response) => response.end('a'));
  const client = await send(get('/', `Content-Length: ${2 ** 40}\r\n`));
  client.resume();
  while (!client.destroyed && client.bytesWritten < 2 * restOfBody.maxBytes) {
    client.write(large);
    await once(client, 'drain').catch(() => {});
    vi.advanceTimersByTime(250);
  }
  await isClosed('body_after_response');
});

/** A client with a response, and the server's socket. */
async function sendAndReceive() {
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  await start((request, response) => {
    resolve(request.socket);
    response.end('a');
  });
  const client = await send(get());
  await once(client.resume(), 'data');
  const socket = await accepted;
  const write = async (text: string) => {
    const { bytesRead } = socket;
    client.write(text);
    await waitUntil('the bytes', async () => socket.bytesRead > bytesRead);
  };
  return { client, write };
}

test('a client that sends line breaks after its response, and no request, is cut off', async () => {
  const { client, write } = await sendAndReceive();
  vi.advanceTimersByTime(idleCheckMs);
  for (const _ of [1, 2]) {
    await write('\r\n');
    expect(await closed()).toEqual({});
    vi.advanceTimersByTime(idleCheckMs);
  }
  await waitUntil('the end of the connection', async () => client.closed);
  expect(await closed()).toEqual({ no_request: 1 });
});

test('a client that is idle, or sends its next request in pieces, keeps its connection', async () => {
  const { client, write } = await sendAndReceive();
  vi.advanceTimersByTime(10 * idleCheckMs);
  await write(get().slice(0, 8));
  vi.advanceTimersByTime(idleCheckMs);
  const response = once(client, 'data');
  await write(get().slice(8));
  await response;
  vi.advanceTimersByTime(10 * idleCheckMs);
  expect(await closed()).toEqual({});
});

test('a body that ends after the response keeps its connection', async () => {
  await start((_, response) => response.end('a'));
  const client = await send(get('/', 'Content-Length: 5\r\n'));
  await once(client.resume(), 'data');
  client.write('12345');
  client.write(get('/', 'Connection: close\r\n'));
  await once(client, 'data');
  vi.advanceTimersByTime(10 * minuteMs);
  expect(await closed()).toEqual({});
});

test('a client that leaves within its body after the response leaves nothing behind', async () => {
  const ended = Promise.withResolvers<void>();
  await start((request, response) => {
    request.socket.once('close', () => ended.resolve());
    response.end('a');
  });
  const client = await send(get('/', 'Content-Length: 1000\r\n'));
  await once(client.resume(), 'data');
  client.destroy();
  await ended.promise;
  vi.advanceTimersByTime(1000);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(2 * restOfBody.maxMs);
  expect(await closed()).toEqual({});
});

test('a reader who takes a part of one large write within each minute stays', async () => {
  const sockets: (Socket & { readonly _handle?: { readonly writeQueueSize: number } })[] = [];
  await start((request, response) => {
    sockets.push(request.socket);
    response.end(Buffer.alloc(64 * 1024 * 1024));
  });
  const client = await send(get());
  await waitUntil('a request', async () => sockets.length > 0);
  const waiting = () => sockets[0]?._handle?.writeQueueSize ?? 0;
  for (let minutes = 0; minutes < 3; minutes += 1) {
    vi.advanceTimersByTime(minuteMs - 1000);
    const before = waiting();
    await waitUntil('progress of the write', async () => {
      client.read();
      return before - waiting() >= minBytesPerMinute;
    });
    vi.advanceTimersByTime(500);
  }
  expect(sockets[0]?.writableLength).toBeGreaterThan(0);
  expect(await closed()).toEqual({});
});

test('of thousands of pipelined requests, Node parses only those that are handled', async () => {
  let parsed = 0;
  class CountedRequest extends IncomingMessage {
    constructor(socket: Socket) {
      super(socket);
      parsed += 1;
    }
  }
  metrics = new Metrics('site');
  const app = limitResponses(() => {}, metrics, createLog('site', 'silent'));
  const { origin } = parts.use(await listen(createServer({ IncomingMessage: CountedRequest }, app)));
  port = Number(new URL(origin).port);
  const client = await send(get().repeat(2000));
  client.resume();
  await waitUntil('the end of the connection', async () => client.closed);
  expect(await closed()).toEqual({ pipelined: 1 });
  expect(parsed).toBeLessThan(10);
});

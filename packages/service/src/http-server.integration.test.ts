import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { listen } from './http-server.ts';

let agent: Agent;
let stop: AbortController;
let server: Server;
let listener: AsyncDisposable;
let port: number;

/** Listens with `answer`; a client with one connection that it likes to keep. */
async function start(answer: (request: IncomingMessage, response: ServerResponse) => void, graceSeconds = 5) {
  await startWith(createServer(answer), graceSeconds);
}

async function startWith(withHandlers: Server, graceSeconds: number) {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  stop = new AbortController();
  server = withHandlers;
  listener = await listen(server, { host: '127.0.0.1', port: 0, stopping: stop.signal, graceSeconds });
  port = (server.address() as AddressInfo).port;
}

afterEach(async () => {
  agent.destroy();
  await listener[Symbol.asyncDispose]();
});

function ask(headers: Record<string, string> = {}) {
  return request({ port, method: 'POST', agent, headers });
}

async function answered(asked = ask().end()): Promise<IncomingMessage & { body: string }> {
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return Object.assign(response, { body: await text(response) });
}

async function disposeMs(): Promise<number> {
  const begin = performance.now();
  await listener[Symbol.asyncDispose]();
  return performance.now() - begin;
}

test('connections are kept until the stop begins; from then on every answer closes its own', async () => {
  await start((_, response) => response.end('a'));
  expect((await answered()).headers.connection).toBe('keep-alive');
  stop.abort();
  expect((await answered()).headers.connection).toBe('close');
});

test('an answer that was asked for before the stop closes its connection too', async () => {
  const running = Promise.withResolvers<ServerResponse>();
  await start((_, response) => running.resolve(response));
  const answer = answered();
  const response = await running.promise;
  stop.abort();
  response.end('a');
  expect((await answer).headers.connection).toBe('close');
});

test('a request that runs may finish within the grace, and no kept connection holds up the end', async () => {
  const running = Promise.withResolvers<ServerResponse>();
  await start((_, response) => {
    response.write('half');
    running.resolve(response);
  });
  const answer = answered();
  const response = await running.promise;
  stop.abort();
  const disposed = disposeMs();
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  response.end(' and half');
  expect((await answer).body).toBe('half and half');
  expect(await disposed).toBeLessThan(1000);
});

test('an idle connection does not hold up the end', async () => {
  await start((_, response) => response.end('a'));
  await answered();
  stop.abort();
  expect(await disposeMs()).toBeLessThan(1000);
});

test('what does not finish within the grace is ended', async () => {
  await start((_, response) => response.write('half'), 0.2);
  const answer = answered();
  answer.catch(() => {});
  await once(server, 'request');
  expect(await disposeMs()).toBeLessThan(1000);
  await expect(answer).rejects.toThrow('aborted');
});

test('a client that waits for 100 Continue gets it from a server that does not handle it', async () => {
  await start(async (incoming, response) => response.end(await text(incoming)));
  const asked = ask({ Expect: '100-continue' });
  asked.flushHeaders();
  await once(asked, 'continue');
  expect((await answered(asked.end('body'))).body).toBe('body');
});

test('a server that handles 100 Continue itself also closes when stopping', async () => {
  await startWith(
    createServer().on('checkContinue', (_, response) => response.writeHead(401).end()),
    5,
  );
  stop.abort();
  const asked = ask({ Expect: '100-continue' });
  asked.flushHeaders();
  const { statusCode, headers } = await answered(asked);
  expect([statusCode, headers.connection]).toEqual([401, 'close']);
  asked.end();
});

test('an address that is taken rejects', async () => {
  await start((_, response) => response.end());
  const second = listen(createServer(), { host: '127.0.0.1', port, stopping: stop.signal, graceSeconds: 0 });
  await expect(second).rejects.toThrow('EADDRINUSE');
});

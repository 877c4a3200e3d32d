import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { maxTextLengths } from '@echodrop/record';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { listen } from '@echodrop/testkit/servers/listen';
import express from 'express';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Slots } from '../admit/slots.ts';
import { createOwnUploadEvents } from './own-upload-events.ts';
import { ownUploadRoutes } from './own-upload-routes.ts';

const provider = 'https://id.example/verify';
const caller = { provider, subject: '12345', userId: 1n, screenName: 'ada' };

let parts: AsyncDisposableStack;
let store: FilesystemObjectStore;
let port: number;
let limits: { slots: number; perUser: number };

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'own-upload-routes-test-')));
  store = parts.use(new FilesystemObjectStore(folder.path));
  limits = { slots: 100, perUser: 100 };
});
afterEach(() => parts.disposeAsync());

async function start(): Promise<void> {
  const perAddress = { anonymousPerAddress: 1, failuresPerMinutePerAddress: 1000 };
  const deps = {
    slots: new Slots({ ...limits, ...perAddress }, () => {}),
    verifier: {
      knownProviders: async () => [provider],
      verify: async () => ({ outcome: 'verified', caller }) as const,
    },
    store,
    compatibility: 'strict' as const,
    events: createOwnUploadEvents(createLog('gateway', 'silent'), new Metrics('gateway')),
  };
  const server = parts.use(
    await listen(createServer(express().use(ownUploadRoutes('', deps, 'https://pics.example')))),
  );
  port = Number(new URL(server.origin).port);
}

const headers = { 'X-Auth-Service-Provider': provider, 'X-Verify-Credentials-Authorization': 'OAuth x' };
const list = () => fetch(`http://127.0.0.1:${port}/2/media.json?count=100`, { headers });

test('a request holds its slot until its response is read', async () => {
  limits.slots = 1;
  await start();
  // More than the system takes for a connection that does not read.
  for (let n = 0; n < 20; n += 1) await publishSample(store, { provider, text: '&'.repeat(64 * 1024) });
  const reader = parts.adopt(connect(port, '127.0.0.1'), (socket) => void socket.destroy());
  await once(reader, 'connect');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET /2/media.json?count=100 HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`;
  reader.pause().write(request.repeat(8));
  await expect.poll(async () => (await list()).status).toBe(503);
  reader.destroy();
  await expect.poll(async () => (await list()).status).toBe(200);
});

test('of one user, four lists are read at once', async () => {
  await start();
  await publishSample(store, { provider, subject: caller.subject });
  const released = Promise.withResolvers<void>();
  const read = store.listKeys.bind(store);
  let running = 0;
  let most = 0;
  vi.spyOn(store, 'listKeys').mockImplementation(async (...page) => {
    running += 1;
    most = Math.max(most, running);
    await released.promise;
    running -= 1;
    return read(...page);
  });
  const lists = Array.from({ length: 6 }, list);
  // A page takes two lists of the store.
  await expect.poll(() => running).toBe(8);
  // Its response comes after the requests for lists.
  expect((await fetch(`http://127.0.0.1:${port}/2/media/aaaaaaaaaa.json`, { headers })).status).toBe(404);
  released.resolve();
  expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect(most).toBe(8);
});

test('a refused request holds no slot, although its client does not end the body', async () => {
  limits.slots = 1;
  await start();
  const client = parts.adopt(connect(port, '127.0.0.1'), (socket) => void socket.destroy());
  await once(client, 'connect');
  client.write('DELETE /2/media/aaaaaaaaaa HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx');
  expect(`${await once(client, 'data')}`).toMatch(/^HTTP\/1\.1 401 /);
  expect((await list()).status).toBe(200);
  expect(client.closed).toBe(false);
});

test('a user beyond its limit gets 429, and another request of it a response once one has ended', async () => {
  limits.perUser = 1;
  await start();
  const { promise: held, resolve: release } = Promise.withResolvers<never[]>();
  // One of the two lists of a page.
  vi.spyOn(store, 'listKeys').mockReturnValueOnce(held);
  const first = list();
  await expect.poll(async () => (await list()).status).toBe(429);
  release([]);
  expect((await first).status).toBe(200);
  await expect.poll(async () => (await list()).status).toBe(200);
});

test('a page of long captions is shorter, and its next page goes on', async () => {
  await start();
  const published = [];
  for (let n = 0; n < 6; n += 1)
    published.unshift(
      await publishSample(store, {
        provider,
        text: 'a'.repeat(64 * 1024),
        timestamp: new Date(Date.UTC(2026, 0, n + 1)),
      }),
    );
  const pages: string[][] = [];
  let after = '';
  do {
    const response = await fetch(`http://127.0.0.1:${port}/2/media.json?count=100${after}`, { headers });
    const { media, next } = (await response.json()) as { media: { id: string }[]; next?: string };
    pages.push(media.map(({ id }) => id));
    after = next ? `&after=${next}` : '';
  } while (after !== '');
  expect(pages.flat()).toEqual(published.map(({ id }) => id));
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 2]);
});

// As a gateway that was taken over may store them. Each `&` takes six bytes in JSON.
test.each([
  ['names beside captions', 99, 1300],
  ['captions', 5, maxTextLengths.text],
])('no list of the longest %s has 1.2 MiB', async (_, count, length) => {
  await start();
  const user = { id: 12345n, screenName: '&'.repeat(maxTextLengths.screenName) };
  const long = { provider, user, text: '&'.repeat(length) };
  for (let n = 0; n < count; n += 1) await publishSample(store, long);
  await publishSample(store, { ...long, text: '&'.repeat(maxTextLengths.text), timestamp: new Date(0) });
  let listed = 0;
  for (const format of ['json', 'xml'])
    for (let next: string | undefined = ''; next !== undefined; ) {
      const path: string = `/2/media.${format}?count=100${next && `&after=${next}`}`;
      const text: string = await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text();
      expect(text.length).toBeLessThan(1.2 * 2 ** 20);
      listed += text.match(/screen_name":|<screen_name>/g)?.length ?? 0;
      next = /"next":"([^"]*)"|<next>([^<]*)/.exec(text)?.slice(1).find(Boolean);
    }
  expect(listed).toBe(2 * (count + 1));
});

test('a page ends by texts that it does not show, too', async () => {
  await start();
  const application = 'a'.repeat(maxTextLengths.application);
  for (let n = 0; n < 5; n += 1) await publishSample(store, { provider, application });
  expect(await (await list()).json()).toMatchObject({ media: [{}], next: expect.any(String) });
});

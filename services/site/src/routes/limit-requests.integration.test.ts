import { createServer } from 'node:http';
import { listen } from '@echodrop/testkit/servers/listen';
import { waitUntil } from '@echodrop/testkit/wait-until';
import express, { type Response } from 'express';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SiteFrame } from '../pages/page.ts';
import { limitRequests, releaseRequestSlot } from './limit-requests.ts';

let parts: AsyncDisposableStack;
let origin: string;
/** The requests that are handled, by client address. */
let handled: { readonly from: string; readonly response: Response }[];

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  handled = [];
  const app = express().set('trust proxy', '127.0.0.1');
  app.use(limitRequests({ name: 'Town' } as SiteFrame), ({ ip = '' }, response) => {
    handled.push({ from: ip, response });
  });
  ({ origin } = parts.use(await listen(createServer(app))));
});
afterEach(() => parts.disposeAsync());

function get(from: string, signal?: AbortSignal): Promise<number> {
  const headers = { 'X-Forwarded-For': from };
  return fetch(origin, { headers, ...(signal && { signal }) }).then(async (response) => {
    await response.text();
    return response.status;
  });
}

const countOf = (from: string) => handled.filter((each) => each.from === from).length;
const isHandled = (from: string, count: number) =>
  waitUntil(`${count} of ${from}`, async () => countOf(from) === count);

test('a network has 32 requests at once, and others do not wait for it', async () => {
  const crowd = Array.from({ length: 40 }, () => get('10.0.0.1'));
  await isHandled('10.0.0.1', 32);
  const other = get('10.0.0.2');
  await isHandled('10.0.0.2', 1);
  for (const { response } of handled) response.end('page');
  await isHandled('10.0.0.1', 40);
  for (const { response } of handled) response.end('page');
  expect(new Set(await Promise.all([...crowd, other]))).toEqual(new Set([200]));
});

test.each<[string, (response: Response, leave: () => void) => void]>([
  ['is streamed', (response) => releaseRequestSlot(response)],
  ['has left', (_, leave) => leave()],
])('a request that %s holds no slot', async (_, end) => {
  const leave = new AbortController();
  const crowd = Array.from({ length: 32 }, () => get('10.0.0.1', leave.signal).catch(() => 0));
  await isHandled('10.0.0.1', 32);
  for (const { response } of handled) end(response, () => leave.abort());
  const next = get('10.0.0.1');
  await isHandled('10.0.0.1', 33);
  handled.at(-1)?.response.end('page');
  expect(await next).toBe(200);
  leave.abort();
  await Promise.all(crowd);
});

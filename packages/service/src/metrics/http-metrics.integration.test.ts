import { createServer, type RequestListener, request } from 'node:http';
import { listen } from '@echodrop/testkit/servers/listen';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { registerHttpMetrics } from './http-metrics.ts';
import { Metrics } from './metrics.ts';

async function observed(respond: RequestListener, routeOf?: Parameters<typeof registerHttpMetrics>[2]) {
  const metrics = new Metrics('test');
  const server = createServer(respond);
  registerHttpMetrics(metrics, server, routeOf);
  const { origin: address, [Symbol.asyncDispose]: dispose } = await listen(server);
  return {
    address,
    async counts(): Promise<Record<string, number>> {
      const { text } = await metrics.exposition();
      const lines = text.matchAll(/^echodrop_http_request_seconds_count\{service="test",(.*)\} (\d+)$/gm);
      return Object.fromEntries([...lines].map(([, labels = '', count]) => [labels, Number(count)]));
    },
    async internalErrors(): Promise<number> {
      return Number(
        /^echodrop_http_internal_errors_total\{service="test"\} (\d+)$/m.exec((await metrics.exposition()).text)?.[1],
      );
    },
    [Symbol.asyncDispose]: dispose,
  };
}

test('measures requests by route, method and status, from closed sets', async () => {
  await using server = await observed(
    (_request, response) => response.writeHead(404).end(),
    ({ url }) => ['/known'].find((path) => path === url),
  );
  for (const path of ['/known', '/known?a', '/unknown']) await fetch(`${server.address}${path}`);
  await new Promise((resolve) => request(server.address, { method: 'PURGE' }, resolve).end());
  await waitUntil('requests', async () => Object.values(await server.counts()).reduce((a, b) => a + b, 0) === 4);
  expect(await server.counts()).toEqual({
    'route="/known",method="GET",status="404"': 1,
    'route="none",method="GET",status="404"': 2,
    'route="none",method="other",status="404"': 1,
  });
});

test("uses the pattern of an Express route, and 'gone' if the client disconnects first", async () => {
  const leaving = new AbortController();
  await using server = await observed((request, response) => {
    Object.assign(request, { route: { path: '/:id' } });
    if (request.url === '/stays') response.end();
    else leaving.abort();
  });
  await fetch(`${server.address}/stays`);
  await expect(fetch(`${server.address}/goes`, { signal: leaving.signal })).rejects.toThrow();
  await waitUntil('two series', async () => Object.keys(await server.counts()).length === 2);
  expect(await server.counts()).toEqual({
    'route="/:id",method="GET",status="200"': 1,
    'route="/:id",method="GET",status="gone"': 1,
  });
});

test('counts responses with status 500, from zero', async () => {
  await using server = await observed(({ url }, response) => response.writeHead(Number(url?.slice(1))).end());
  expect(await server.internalErrors()).toBe(0);
  for (const status of [200, 404, 503, 500, 500]) await fetch(`${server.address}/${status}`);
  await waitUntil('requests', async () => Object.values(await server.counts()).reduce((a, b) => a + b, 0) === 5);
  expect(await server.internalErrors()).toBe(2);
});

test('counts an upload that waits for 100 Continue once', async () => {
  const metrics = new Metrics('test');
  const server = createServer();
  const respond: RequestListener = (_request, response) => void response.writeHead(401).end();
  server.on('request', respond).on('checkContinue', respond);
  registerHttpMetrics(metrics, server, () => '/upload');
  await using listening = await listen(server);
  await new Promise((resolve) => {
    request(listening.origin, { method: 'POST', headers: { Expect: '100-continue' } }, resolve).flushHeaders();
  });
  const expected = '{service="test",route="/upload",method="POST",status="401"} 1\n';
  await waitUntil('the end of the upload', async () => (await metrics.exposition()).text.includes(expected));
});

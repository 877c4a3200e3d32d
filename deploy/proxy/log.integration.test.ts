import { readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { inHeaders, inPaths, request, sendHostile } from '@echodrop/testkit/hostile/hostile-request';
import { listen } from '@echodrop/testkit/servers/listen';
import { nginx } from '@echodrop/testkit/servers/start-nginx';
import { startProxy } from '@echodrop/testkit/servers/start-proxy';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { expect, test } from 'vitest';

const needed = unlessMissing({ nginx: nginx !== undefined });
const headers = { Referer: `marked${inHeaders}` };
const address = '/Ab3dE6gH9j?access_token=marked';
const usesUntilCached = 5;

async function linesOf(folder: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(folder, 'access.log'), 'utf8');
  expect(text).not.toMatch(/marked|(?!\n)[^ -~]/);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test(
  'no log of the proxy has a query, a header of a client, or a character that a terminal obeys; the error log has the end of a worker',
  needed,
  async () => {
    const sent = new Headers({ 'X-Request-Id': inHeaders, 'X-Accel-Expires': '60' });
    await using site = await listen(createServer((_, response) => response.setHeaders(sent).end()));
    await using proxy = await startProxy(site.origin);
    const send = async (line: string, status: number, more: Parameters<typeof request>[3] = {}) => {
      // Its connection closes after its line is written.
      await sendHostile(proxy.origin, request('site', '', line, { ...more, headers: { ...headers, ...more.headers } }));
      const last = (await linesOf(proxy.folder)).at(-1);
      expect(last).toMatchObject({ status });
      return last;
    };
    const plain = await send(`GET ${address}`, 200);
    expect(plain).toMatchObject({ path: '/Ab3dE6gH9j', upstreamStatus: '200', requestId: '(not ASCII)' });
    for (const path of [inPaths, '%7f', '%1b]0;x', '%c2%9b', '%e2%80%ae'])
      expect(await send(`GET /${path}`, 200)).toMatchObject({ path: '(not ASCII)' });
    expect(await send(`GET /${inHeaders}`, 400)).toMatchObject({ path: '(not ASCII)' });
    expect(await send('GET /%22%5c', 200)).toMatchObject({ path: '/"\\' });
    expect(await send(`GET /${'x'.repeat(9000)}`, 200)).toMatchObject({ path: `/${'x'.repeat(511)}...` });
    expect(await send(`${'X'.repeat(4000)} /`, 400)).toMatchObject({ method: `${'X'.repeat(16)}...` });
    // Of the level "error", then "crit".
    await send(`POST ${address}`, 413, {
      headers: { Referer: '\u001b]0;marked', 'Content-Length': '99999999' },
      ending: 'end',
    });
    await rename(join(proxy.folder, 'readers'), join(proxy.folder, 'moved'));
    for (let n = 0; n < usesUntilCached; n += 1) await send('GET /Ab3dE6gH9k', 200);
    await site[Symbol.asyncDispose]();
    const { host } = new URL(site.origin);
    expect(await send(`GET ${address}`, 502)).toMatchObject({ upstream: host, upstreamStatus: '502' });
    const [worker = ''] = (await readFile(`/proc/${proxy.pid}/task/${proxy.pid}/children`, 'utf8')).split(' ');
    process.kill(Number(worker), 'SIGKILL');
    await expect.poll(() => proxy.errors).toContain(`${worker} exited on signal 9`);
    expect(proxy.errors).not.toMatch(/marked|(?!\n)[^ -~]/);
  },
);

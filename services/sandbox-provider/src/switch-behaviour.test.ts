import type { ListeningServer } from '@echodrop/testkit/servers/listen';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { send, startSandbox } from './sandbox.fixture.ts';

let sandbox: ListeningServer;
let port: string;
beforeAll(async () => {
  sandbox = await startSandbox();
  ({ port } = new URL(sandbox.origin));
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

const asForm = { 'content-type': 'application/x-www-form-urlencoded' };

function change(body: string, headers: Record<string, string> = {}) {
  return send(`${sandbox.origin}/behaviour`, { method: 'POST', ...asForm, ...headers, body });
}

async function now() {
  const { body } = await send(sandbox.origin, {});
  const [, behaviour, doing] = /Now <strong>([^<]*)<\/strong>: it ([^<]*)\./.exec(body) ?? [];
  return [behaviour, doing];
}

beforeEach(async () => {
  await change('behaviour=normal&seconds=10');
});

test('a program can change the behaviour, and is redirected to the page', async () => {
  const { status, headers } = await change('behaviour=slow&seconds=3');
  expect([status, headers.location]).toEqual([303, '/sandbox']);
  expect(await now()).toEqual(['slow', 'responds after 3 s']);
});

test.each(['behaviour=slow', 'behaviour=slow&seconds='])("'%s' keeps the delay", async (form) => {
  await change('behaviour=normal&seconds=7');
  await change(form);
  expect(await now()).toEqual(['slow', 'responds after 7 s']);
});

test.each([
  '',
  'behaviour=odd',
  'behaviour=__proto__',
  'behaviour=down&behaviour=html',
  'behaviour=slow&seconds=0',
  'behaviour=slow&seconds=121',
  'behaviour=slow&seconds=1.5',
  'behaviour=slow&seconds=x',
])("refuses '%s' and lists valid values", async (form) => {
  const { status, headers, body } = await change(form);
  expect([status, headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
  expect(body).toMatch(
    /^behaviour must be one of normal, slow, .*; seconds is optional and must be a whole number from 1 to 120\n$/,
  );
  expect(await now()).toEqual(['normal', 'responds like the real provider']);
});

test('refuses other content types and large forms', async () => {
  expect((await change('{"behaviour":"down"}', { 'content-type': 'application/json' })).status).toBe(400);
  expect((await change('behaviour=down', { 'content-type': 'text/plain' })).status).toBe(400);
  expect((await change(`behaviour=down&more=${'x'.repeat(2000)}`)).status).toBe(413);
  expect((await now())[0]).toBe('normal');
});

test.each(['GET', 'PUT', 'HEAD'])('%s changes nothing', async (method) => {
  expect((await send(`${sandbox.origin}/behaviour?behaviour=down`, { method })).status).toBe(404);
  expect((await now())[0]).toBe('normal');
});

test.each([
  ['127.0.0.1', {}],
  ['127.0.0.1', { 'sec-fetch-site': 'same-origin' }],
  ['localhost', { 'sec-fetch-site': 'same-origin' }],
  ['sandbox.localhost', {}],
  ['[::1]', {}],
  ['sandbox-provider', {}],
])('accepts its own page at %s', async (host, headers) => {
  const at = `${host}:${port}`;
  expect((await change('behaviour=down', { host: at, origin: `http://${at}`, ...headers })).status).toBe(303);
  expect((await now())[0]).toBe('down');
});

const rebound = 'evil.example';

test.each([
  ['a page on the web', { origin: 'https://evil.example' }],
  ['a page on the web, with Sec-Fetch-Site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a page with a hidden origin', { origin: 'null' }],
  ['a page with Sec-Fetch-Site only', { 'sec-fetch-site': 'cross-site' }],
  ['a page at another port of this machine', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
  ['a page at a name with our prefix', { origin: 'http://127.0.0.1.evil.example' }],
  ['a page after DNS rebinding', { host: rebound, origin: `http://${rebound}` }],
  [
    'a page after DNS rebinding, over TLS',
    { host: rebound, origin: `https://${rebound}`, 'sec-fetch-site': 'same-origin' },
  ],
  ['a page after DNS rebinding, with a trailing dot', { host: 'evil.', origin: 'http://evil.' }],
])('refuses %s', async (_what, headers) => {
  expect((await change('behaviour=down', headers as Record<string, string>)).status).toBe(403);
  expect((await now())[0]).toBe('normal');
});

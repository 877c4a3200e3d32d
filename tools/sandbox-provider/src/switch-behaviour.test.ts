import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunningSandbox, send, startSandbox } from './sandbox.fixture.ts';

let sandbox: RunningSandbox;
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

test('a program changes it with a form, and is sent to the page', async () => {
  const { status, headers } = await change('behaviour=slow&seconds=3');
  expect([status, headers.location]).toEqual([303, '/']);
  expect(await now()).toEqual(['slow', 'answers after 3 s']);
});

test.each(['behaviour=slow', 'behaviour=slow&seconds='])("'%s' keeps the seconds", async (form) => {
  await change('behaviour=normal&seconds=7');
  await change(form);
  expect(await now()).toEqual(['slow', 'answers after 7 s']);
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
])("'%s' is refused with what it must be", async (form) => {
  const { status, headers, body } = await change(form);
  expect([status, headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
  expect(body).toMatch(/^behaviour must be one of normal, slow, .*; seconds, if any, a whole number from 1 to 120\n$/);
  expect(await now()).toEqual(['normal', 'answers as the real one does']);
});

test('what is no form, and a form that is too large, are refused', async () => {
  expect((await change('{"behaviour":"down"}', { 'content-type': 'application/json' })).status).toBe(400);
  expect((await change('behaviour=down', { 'content-type': 'text/plain' })).status).toBe(400);
  expect((await change(`behaviour=down&more=${'x'.repeat(2000)}`)).status).toBe(413);
  expect((await now())[0]).toBe('normal');
});

test.each(['GET', 'PUT', 'HEAD'])('%s changes nothing', async (method) => {
  const { status, headers } = await send(`${sandbox.origin}/behaviour?behaviour=down`, { method });
  expect([status, headers.allow]).toEqual([405, 'POST']);
  expect((await now())[0]).toBe('normal');
});

test.each([
  ['127.0.0.1', {}],
  ['127.0.0.1', { 'sec-fetch-site': 'same-origin' }],
  ['localhost', { 'sec-fetch-site': 'same-origin' }],
  ['sandbox.localhost', {}],
  ['[::1]', {}],
  ['sandbox-provider', {}],
])('its own page at %s may change it', async (host, headers) => {
  const at = `${host}:${port}`;
  expect((await change('behaviour=down', { host: at, origin: `http://${at}`, ...headers })).status).toBe(303);
  expect((await now())[0]).toBe('down');
});

const rebound = 'evil.example';

test.each([
  ['a page on the web', { origin: 'https://evil.example' }],
  ['a page on the web, as newer browsers say', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a page whose browser hides its address', { origin: 'null' }],
  ['a page whose browser says where it is in one way only', { 'sec-fetch-site': 'cross-site' }],
  ['a page at another port of this machine', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
  ['a page at a name that begins like ours', { origin: 'http://127.0.0.1.evil.example' }],
  ['a page whose name leads here now', { host: rebound, origin: `http://${rebound}` }],
  [
    'a page whose name leads here now, over TLS',
    { host: rebound, origin: `https://${rebound}`, 'sec-fetch-site': 'same-origin' },
  ],
  ['a page whose name leads here now, with a dot at its end', { host: 'evil.', origin: 'http://evil.' }],
])('%s may not', async (_what, headers) => {
  expect((await change('behaviour=down', headers as Record<string, string>)).status).toBe(403);
  expect((await now())[0]).toBe('normal');
});

test('changes, and those that were kept out, are counted', async () => {
  await using counted = await startSandbox();
  const ask = (headers: Record<string, string>) =>
    send(`${counted.origin}/behaviour`, { method: 'POST', ...asForm, body: 'behaviour=html', ...headers });
  await ask({});
  await ask({ origin: 'null' });
  const { text } = await counted.metrics.exposition();
  expect(text).toContain('echodrop_sandbox_behaviour_changes_total{behaviour="html",service="sandbox-provider"} 1');
  expect(text).toContain('echodrop_sandbox_cross_origin_refused_total{service="sandbox-provider"} 1');
});

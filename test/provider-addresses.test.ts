import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const parts = new AsyncDisposableStack();
const requests: string[] = [];
let canaryPort: number;
let listed: Stack;
let provider: string;
let media: Buffer;

beforeAll(async () => {
  const canary = await listening((request) => requests.push(`${request.headers.host} ${request.url}`));
  canaryPort = canary;
  const redirecting = await listening(() => {});
  listed = parts.use(
    await startStack({
      services: ['auth-verifier', 'gateway'],
      settings: {
        IDENTITY_PROVIDERS: [
          `http://127.0.0.1:${canaryPort}/listed.json=http://127.0.0.1:${redirecting}/verify.json`,
          `http://[::1]:${canaryPort}/listed.json=http://127.0.0.1:${redirecting}/verify.json`,
        ].join(','),
      },
    }),
  );
  provider = `http://127.0.0.1:${canaryPort}/listed.json`;
  media = await samplePhoto('jpg', { width: 64, height: 48 });
});

afterAll(() => parts.disposeAsync());

beforeEach(() => {
  requests.length = 0;
});

// Redirects /verify.json to the canary; responds to every other request with a user.
async function listening(onRequest: (request: { headers: { host?: string }; url?: string }) => void): Promise<number> {
  const server: Server = createServer((request, response) => {
    onRequest(request);
    const moved = request.url === '/verify.json';
    response
      .writeHead(moved ? 302 : 200, moved ? { Location: `http://127.0.0.1:${canaryPort}/led.json` } : {})
      .end('{"id":1,"screen_name":"mallory"}');
  });
  server.listen(0);
  await once(server, 'listening');
  parts.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

const tricks: [string, (address: string) => string][] = [
  ['another path', (address) => address.replace('listed', 'other')],
  ['a user', (address) => address.replace('//', '//user@')],
  ['a user and a password', (address) => address.replace('//', '//user:password@')],
  ['the listed host as a user', (address) => address.replace('//127.0.0.1', '//127.0.0.1@localhost')],
  ['the listed address as a user', (address) => address.replace('//', `//${encodeURIComponent('127.0.0.1/')}@`)],
  ['an upper-case scheme', (address) => address.replace('http', 'HTTP')],
  ['an upper-case path', (address) => address.replace('listed', 'LISTED')],
  ['another scheme', (address) => address.replace('http', 'https')],
  ['a non-HTTP scheme', (address) => address.replace('http', 'gopher')],
  ['no scheme', (address) => address.replace('http:', '')],
  ['a host name', (address) => address.replace('127.0.0.1', 'localhost')],
  ['another loopback address', (address) => address.replace('127.0.0.1', '127.0.0.2')],
  ['the address without zeros', (address) => address.replace('127.0.0.1', '127.1')],
  ['the address as a number', (address) => address.replace('127.0.0.1', '2130706433')],
  ['the address in hexadecimal', (address) => address.replace('127.0.0.1', '0x7f000001')],
  ['the address in octal', (address) => address.replace('127.0.0.1', '0177.0.0.1')],
  ['the wildcard address', (address) => address.replace('127.0.0.1', '0.0.0.0')],
  ['an IPv6 address', (address) => address.replace('127.0.0.1', '[0:0:0:0:0:0:0:1]')],
  ['an IPv4-mapped IPv6 address', (address) => address.replace('127.0.0.1', '[::ffff:127.0.0.1]')],
  ['an IPv4-mapped address in hexadecimal', (address) => address.replace('127.0.0.1', '[::ffff:7f00:1]')],
  ['an IPv6 address with a zone', (address) => address.replace('127.0.0.1', '[::1%25lo]')],
  ['a trailing dot in the host', (address) => address.replace('127.0.0.1', 'localhost.')],
  ['full-width digits', (address) => address.replace('127.0.0.1', '%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1')],
  ['a leading zero in the port', (address) => address.replace(/:(\d+)/, ':0$1')],
  ['no port', (address) => address.replace(/:\d+/, '')],
  ['an empty port', (address) => address.replace(/:\d+/, ':')],
  ['a trailing slash', (address) => `${address}/`],
  ['a double slash', (address) => address.replace('/listed', '//listed')],
  ['backslashes', (address) => address.replace('http://', 'http:\\\\')],
  ['a dot segment', (address) => address.replace('/listed', '/./listed')],
  ['a parent segment', (address) => address.replace('/listed', '/x/../listed')],
  ['an encoded letter', (address) => address.replace('listed', '%6cisted')],
  ['an encoded slash', (address) => address.replace('/listed', '/%2flisted')],
  ['an encoded line break', (address) => `${address}%0d%0aX: y`],
  ['a question mark', (address) => `${address}?`],
  ['a query', (address) => `${address}?a=b`],
  ['a fragment', (address) => `${address}#a`],
  ['a tab', (address) => address.replace('listed', 'lis\tted')],
  ['single quotes', (address) => `'${address}'`],
  ['angle brackets', (address) => `<${address}>`],
  ['two pairs of quotes', (address) => `""${address}""`],
  ['another address after it', (address) => `${address}, http://127.0.0.1/`],
  ['another address before it', (address) => `http://127.0.0.1/, ${address}`],
  ['an upstream address', (address) => `${address}=${address}`],
  ['a profile before it', (address) => `oauth1 ${address}`],
];

test.each(tricks)('an address with a variation is unknown and not queried: %s', async (_, trick) => {
  const named = trick(provider);
  expect(named).not.toBe(provider);
  const headers = { ...echoHeaders({ provider }), 'X-Auth-Service-Provider': named };
  const { status, text } = await upload(listed, { media, headers });
  expect([status, text]).toEqual([401, expect.stringContaining('provider_unknown')]);
  expect(requests).toEqual([]);
});

test.each([
  ['by name', (address: string) => address],
  ['in quotes', (address: string) => `"${address}"`],
  ['in its IPv6 form', (address: string) => address.replace('127.0.0.1', '[::1]')],
])('a listed provider is queried %s, but its redirects are not followed', async (_, named) => {
  const headers = { ...echoHeaders({ provider }), 'X-Auth-Service-Provider': named(provider) };
  const { status, text } = await upload(listed, { media, headers });
  expect([status, text]).toEqual([401, expect.stringContaining('provider_unavailable')]);
  expect(requests).toEqual([]);
});

test('the canary responds', async () => {
  expect((await fetch(`http://127.0.0.1:${canaryPort}/led.json`)).status).toBe(200);
  expect(requests).toHaveLength(1);
});

import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@echodrop/testkit/find-program';
import { patienceMs } from '@echodrop/testkit/patience';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ProviderConnections } from './provider-connections.ts';
import { type Behaviour, startStandIn } from './stand-in-provider.fixture.ts';

const advertised = 'https://id.example/verify.json';
// A separate process, because Node reads trusted certificate authorities only at its start.
const program = `
  import { ProviderConnections } from '${join(import.meta.dirname, 'provider-connections.ts')}';
  import { readProvider } from '${join(import.meta.dirname, 'provider.ts')}';
  await using connections = new ProviderConnections(${patienceMs});
  for (const entry of process.argv.slice(1)) {
    const result = await connections.query(readProvider(entry), 'OAuth x').then(({ body }) => body, ({ code }) => code);
    console.log(result);
  }`;

describe('over TLS', unlessMissing({ openssl: (await findProgram('openssl')) !== undefined }), () => {
  let folder: string;
  let port: number;
  const parts = new AsyncDisposableStack();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'echodrop-tls-'));
    parts.defer(() => rm(folder, { recursive: true }));
    await execa('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=a provider of this test', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
      ...['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')],
    ]);
    const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(folder, name))));
    const server = createServer({ key, cert }, ({ headers, socket, httpVersion }, response) => {
      response.end(
        JSON.stringify({ ...headers, servername: 'servername' in socket && socket.servername, httpVersion }),
      );
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    parts.defer(() => {
      server.close();
      server.closeAllConnections();
    });
  });

  afterAll(() => parts.disposeAsync());

  async function queryEach(...entries: string[]): Promise<string[]> {
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', program, ...entries], {
      env: { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') },
      timeout: patienceMs,
    });
    return stdout.split('\n');
  }

  test('verifies the certificate of the upstream name, and sends the advertised one', async () => {
    const [byName = '', byAddress = ''] = await queryEach(
      `${advertised}=https://localhost:${port}/`,
      `${advertised}=https://127.0.0.1:${port}/`,
    );
    const common = { host: 'id.example', 'x-forwarded-proto': 'https', authorization: 'OAuth x', httpVersion: '1.1' };
    expect(JSON.parse(byName)).toMatchObject({ ...common, servername: 'localhost' });
    // RFC 6066 section 3: an IP address is not a server name.
    expect(JSON.parse(byAddress)).toMatchObject({ ...common, servername: false });
  });

  test.each([
    ['', `https://127.0.0.2`],
    [', whatever name it advertises', 'https://localhost/=https://127.0.0.2'],
  ])('sends nothing to a server with a certificate for another name%s', async (_, entry) => {
    expect(await queryEach(`${entry}:${port}/`)).toEqual(['ERR_TLS_CERT_ALTNAME_INVALID']);
  });
});

test.each<[string, Behaviour]>([
  ['closes', (socket) => socket.end()],
  ['breaks', (socket) => socket.resetAndDestroy()],
  ['breaks during a response', (socket) => socket.write('HTTP/1.1 200', () => socket.resetAndDestroy())],
])('reuses connections, and does not repeat a request if one %s', async (_, behaviour) => {
  await using standIn = await startStandIn();
  await using connections = new ProviderConnections(patienceMs);
  const used = new Set<number | undefined>();
  const usual = standIn.behaviour;
  standIn.behaviour = (socket) => {
    const isReused = used.has(socket.remotePort);
    used.add(socket.remotePort);
    (isReused ? behaviour : usual)(socket);
  };
  let sent = 0;
  await expect(async () => {
    for (; sent < 10; sent += 1) await connections.query(standIn.provider, 'OAuth a');
  }).rejects.toThrow();
  expect(standIn.requests).toHaveLength(sent + 1);
});

test('a response that a suspended process reads too late does not count', async () => {
  await using standIn = await startStandIn();
  await using connections = new ProviderConnections(patienceMs);
  const usual = standIn.behaviour;
  standIn.behaviour = (socket) => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + patienceMs + 1);
    usual(socket);
  };
  const query = connections.query(standIn.provider, 'OAuth a').finally(() => vi.restoreAllMocks());
  await expect(query).rejects.toThrow('provider response read too late');
});

test('a request identifies Echodrop and accepts JSON', async () => {
  await using standIn = await startStandIn();
  await using connections = new ProviderConnections(patienceMs);
  await connections.query(standIn.provider, 'OAuth a');
  await connections.query(standIn.provider);
  const [first, second] = standIn.requests.map((head) => head.trimEnd().split('\r\n').toSorted());
  const always = ['GET /1/verify.json HTTP/1.1', 'accept: application/json', 'user-agent: Echodrop'];
  expect(first).toEqual(expect.arrayContaining([...always, 'authorization: OAuth a']));
  expect(second).toEqual(expect.arrayContaining(always));
  expect(second?.join()).not.toMatch(/authorization|x-forwarded/i);
});

test('a response that is not UTF-8 has no text: two names could become one', async () => {
  await using standIn = await startStandIn();
  await using connections = new ProviderConnections(patienceMs);
  standIn.behaviour = (socket) =>
    socket.write(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a":"\xff"}', 'latin1'));
  expect(await connections.query(standIn.provider)).toMatchObject({ status: 200, body: '' });
});

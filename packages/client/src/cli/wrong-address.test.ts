import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@echodrop/testkit/find-program';
import { listen } from '@echodrop/testkit/servers/listen';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { RequestRefused, ServiceUnreachable } from '../client-errors.ts';
import { explainAddress } from './wrong-address.ts';

const openssl = await findProgram('openssl');
const refused = (status: number, reason = 'unknown') => new RequestRefused({ status, reason, message: 'Refused.' });
const lost = new ServiceUnreachable('No response.', { cause: new Error('other side closed') });

const site: RequestListener = (request, response) => {
  if (request.url !== '/sign-in/providers.json') return response.writeHead(405).end();
  response.end(JSON.stringify({ upload: 'https://upload.example', providers: [] }));
};

test('names the upload service if the address is that of the site', async () => {
  await using server = await listen(createServer(site));
  expect(await explainAddress(refused(405), server.origin)).toMatchObject({
    name: 'UsageError',
    message: `${server.origin} is the site with the pages. Its upload service has the address https://upload.example: pass that with --url or ECHODROP_URL.`,
  });
});

test.each([
  ['a status of the service', refused(404, 'not_found')],
  ['another status', refused(403)],
  ['another error', new Error('full')],
])('%s says nothing about the address', async (_, error) => {
  await using server = await listen(createServer(site));
  expect(await explainAddress(error, server.origin)).toBe(error);
});

test.each([refused(404), refused(400), lost])('an address of another program stays unexplained (%s)', async (error) => {
  await using server = await listen(createServer((_, response) => response.writeHead(404).end()));
  expect(await explainAddress(error, server.origin)).toBe(error);
});

test('a port that expects TLS is named', unlessMissing({ openssl: openssl !== undefined }), async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'tls-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder.path, name)) as [string, string];
  const subject = ['-subj', '/CN=127.0.0.1', '-days', '2'];
  await execa('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject]);
  await using server = await listen(createTlsServer({ key: await readFile(key), cert: await readFile(cert) }));
  for (const error of [lost, refused(400)])
    expect(await explainAddress(error, server.origin)).toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(/^127\.0\.0\.1:\d+ expects TLS: pass an address with https/),
    });
});

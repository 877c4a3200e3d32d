import { beforeEach, expect, test } from 'vitest';
import { describeError } from './cli/describe-error.ts';
import { prepareClient } from './cli/sign-in/authorization-client.ts';
import { identifyUser } from './cli/sign-in/identify-user.ts';
import { fetchSiteSettings } from './cli/sign-in/site-settings.ts';
import { clientOf, endless, respond, useFakeService } from './service.fixture.ts';

const service = await useFakeService();
beforeEach(() => {
  service.responses = [endless];
});

const credentials = { bearer: 'token' };
const client = (retries: number) => clientOf(service, { retries });

test.each<[string, () => Promise<unknown>]>([
  ['an upload', () => client(0).upload(new Uint8Array(9))],
  ['a list', () => client(0).list()],
  ['settings of a site', () => fetchSiteSettings(service.address)],
  ['a user', () => identifyUser({ provider: service.address, credentials })],
  [
    'metadata of a provider',
    () => {
      const { address } = service;
      return prepareClient(
        { profile: 'oidc', name: 'Work', provider: address, issuer: address, clientId: 'public' },
        'http://127.0.0.1/',
      );
    },
  ],
])('an endless response to %s ends with an error', async (_, request) => {
  const message = await request().then(() => '', describeError);
  expect(message).toMatch(/The response is larger than \d+ MiB\./);
  expect(message).not.toContain('does not respond');
});

test.each<[string, Parameters<typeof respond>]>([
  ['a web page', [200, `<html>${' '.repeat(2 ** 21)}`, { 'Content-Type': 'text/html; charset=utf-8' }]],
  ['another document', [200, '{"status":"ok"}']],
])('%s in place of a record is read once, and the error names the address', async (_, response) => {
  service.responses = [respond(...response)];
  const address =
    /Check the address of the upload service: .* --url\. The site with the pages may have another address\.$/;
  await expect(client(1).list()).rejects.toThrow(address);
  await expect(client(1).upload(new Uint8Array(9))).rejects.toThrow(address);
  expect(service.received).toHaveLength(2);
});

test('a web page in place of a list is not read', async () => {
  const closed = Promise.withResolvers<void>();
  service.responses = [
    (response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).on('close', closed.resolve).write(' ');
    },
  ];
  await expect(client(1).list()).rejects.toThrow('The response is a web page.');
  await closed.promise;
});

test('of a failure no more than 1 MiB is read', async () => {
  service.responses = [respond(502, ' '.repeat(2 ** 20 + 1))];
  await expect(client(0).list()).rejects.toThrow('The response is larger than 1 MiB.');
});

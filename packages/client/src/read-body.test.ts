import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { describeError } from './cli/describe-error.ts';
import { prepareClient } from './cli/sign-in/authorization-client.ts';
import { identifyUser } from './cli/sign-in/identify-user.ts';
import { fetchSiteSettings } from './cli/sign-in/site-settings.ts';
import { EchodropClient } from './node.ts';
import { endless, type FakeService, respond, startFakeService } from './service.fixture.ts';

let service: FakeService;

beforeAll(async () => {
  service = await startFakeService();
});
beforeEach(() => {
  service.received.length = 0;
  service.responses = [endless];
});
afterAll(() => service?.[Symbol.asyncDispose]());

const credentials = { bearer: 'token' };
const client = (retries: number) =>
  new EchodropClient({
    service: service.address,
    apiKey: 'key',
    provider: 'http://provider.example/v',
    credentials,
    retries,
  });

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
  expect(await request().then(() => '', describeError)).toMatch(/The response is larger than \d+ MiB\./);
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

test.each([302, 503])('the body of a response with status %d in place of a document is not read', async (status) => {
  const cancel = vi.fn();
  const response = new Response(new ReadableStream({ cancel }), { status, headers: { Location: '/other' } });
  vi.stubGlobal('fetch', async () => response);
  await expect(fetchSiteSettings(service.address)).rejects.toThrow();
  vi.unstubAllGlobals();
  expect(cancel).toHaveBeenCalledOnce();
});

import { recordToJson } from '@echodrop/record';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeError } from './cli/describe-error.ts';
import { prepareClient } from './cli/sign-in/authorization-client.ts';
import { identifyUser } from './cli/sign-in/identify-user.ts';
import { fetchSiteSettings } from './cli/sign-in/site-settings.ts';
import { EchodropClient } from './node.ts';
import { endless, type FakeService, respond, someRecord, startFakeService } from './service.fixture.ts';

let service: FakeService;

beforeAll(async () => {
  service = await startFakeService();
});
beforeEach(() => {
  service.responses = [endless];
});
afterAll(() => service?.[Symbol.asyncDispose]());

const credentials = { bearer: 'token' };
const client = (retries: number) =>
  new EchodropClient({
    ...{ service: service.address, apiKey: 'key', provider: 'http://provider.example/v' },
    ...{ credentials, retries },
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
        { profile: 'oidc', name: 'Work', provider: address, issuer: address, clientId: 'public', redirectPath: '/' },
        'http://127.0.0.1/',
      );
    },
  ],
])('an endless response to %s ends with an error', async (_, request) => {
  expect(await request().then(() => '', describeError)).toMatch(/The response is larger than \d+ MiB\./);
});

test('an upload is retried after an endless response', async () => {
  service.responses = [endless, respond(200, recordToJson(someRecord))];
  expect(await client(1).upload(new Uint8Array(9))).toEqual(someRecord);
});

import { recordsToJson } from '@echodrop/record';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { EchodropClient, UnreadableResponse } from './node.ts';
import { type FakeService, lose, refuse, respond, someRecord, startFakeService } from './service.fixture.ts';

let service: FakeService;

beforeAll(async () => {
  service = await startFakeService();
});
beforeEach(() => {
  service.received.length = 0;
});
afterAll(() => service?.[Symbol.asyncDispose]());

const client = (options = {}) =>
  new EchodropClient({
    ...options,
    service: service.address,
    provider: 'http://provider.example/v',
    credentials: { bearer: 't' },
  });

test('lists a page with exact user ids, and its cursor', async () => {
  service.responses = [respond(200, recordsToJson({ records: [someRecord], next: '123-abc' }))];
  expect(await client().list({ after: '9-x', count: 5 })).toEqual({ records: [someRecord], next: '123-abc' });
  expect(service.received[0]).toMatchObject({ method: 'GET', path: '/2/media.json?after=9-x&count=5' });
});

test('finds an upload on a later page, but no unknown one', async () => {
  const other = { ...someRecord, id: 'other00000' };
  const pages = [
    respond(200, recordsToJson({ records: [other], next: 'c1' })),
    respond(200, recordsToJson({ records: [someRecord] })),
  ];
  service.responses = pages;
  expect(await client().get(someRecord.id)).toEqual(someRecord);
  service.responses = pages;
  expect(await client().get('missing000')).toBeUndefined();
});

test('a search ends if the pages repeat', async () => {
  const page = (next: string) => respond(200, recordsToJson({ records: [], next }));
  service.responses = [page('c1'), page('c2'), page('c1')];
  await expect(client().get('missing000')).rejects.toThrow('The pages of the list repeat.');
  expect(service.received).toHaveLength(3);
});

test('a page with more records than a page can have is refused', async () => {
  service.responses = [respond(200, recordsToJson({ records: Array(101).fill(someRecord) }))];
  await expect(client({ retries: 0 }).list()).rejects.toThrow(UnreadableResponse);
});

test('removes an upload, or throws the reason', async () => {
  service.responses = [respond(204), refuse(403, 'not_yours')];
  await client().remove('a/b');
  expect(service.received[0]).toMatchObject({ method: 'DELETE', path: '/2/media/a%2Fb' });
  await expect(client().remove('a')).rejects.toMatchObject({ status: 403, reason: 'not_yours' });
});

test('after a lost response or a failure, a removal that finds nothing has succeeded; otherwise it fails', async () => {
  for (const earlier of [lose, refuse(503, 'unavailable')]) {
    service.responses = [earlier, refuse(404, 'not_found')];
    await client().remove('a1B2c3D4e5');
  }
  for (const earlier of [[], [refuse(429, 'too_many_requests')], [refuse(503, 'overloaded')]]) {
    service.responses = [...earlier, refuse(404, 'not_found')];
    await expect(client().remove('a1B2c3D4e5')).rejects.toMatchObject({ reason: 'not_found' });
  }
});

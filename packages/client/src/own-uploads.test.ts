import { recordsToJson, recordToJson } from '@echodrop/record';
import { expect, test } from 'vitest';
import { UnreadableResponse } from './node.ts';
import { clientOf, lose, refuse, respond, someRecord, useFakeService } from './service.fixture.ts';

const service = await useFakeService();
const client = (options = {}) => clientOf(service, options);

test('lists a page with exact user ids, and its cursor', async () => {
  service.responses = [respond(200, recordsToJson({ records: [someRecord], next: '123-abc' }))];
  expect(await client().list({ after: '9-x', count: 5 })).toEqual({ records: [someRecord], next: '123-abc' });
  expect(service.received[0]).toMatchObject({ method: 'GET', path: '/2/media.json?after=9-x&count=5' });
  await client().list();
  expect(service.received[1]?.path).toBe('/2/media.json');
});

test('finds an upload by its id, after a failure, too', async () => {
  service.responses = [refuse(503, 'unavailable'), respond(200, recordToJson(someRecord))];
  expect(await client().get('a/b')).toEqual(someRecord);
  expect(service.received.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array(2).fill('GET /2/media/a%2Fb.json'),
  );
});

test.each([
  [404, 'not_found'],
  [403, 'not_yours'],
  [410, 'removed'],
])('finds nothing if the response is %i %s', async (status, reason) => {
  service.responses = [refuse(status, reason)];
  expect(await client().get('missing000')).toBeUndefined();
});

test('a search that is refused for another reason fails', async () => {
  service.responses = [refuse(401, 'credentials_refused')];
  await expect(client().get('a')).rejects.toMatchObject({ reason: 'credentials_refused' });
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
  service.responses = [refuse(404, 'not_found')];
  await expect(client().remove('a1B2c3D4e5')).rejects.toMatchObject({ reason: 'not_found' });
});

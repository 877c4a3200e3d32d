import { recordToJson } from '@echodrop/record';
import { expect, test } from 'vitest';
import { UnreadableResponse } from './client-errors.ts';
import { readRecord } from './read-response.ts';
import { someRecord } from './service.fixture.ts';

test('a record with an address that is not http(s) is not read', async () => {
  const hostile = recordToJson({ ...someRecord, url: 'javascript:alert(1)' });
  await expect(readRecord('json', hostile)).rejects.toThrow(UnreadableResponse);
});

test.each([
  ['a number of 41 digits', '1'.repeat(41)],
  ['a text of 41 digits', `"${'1'.repeat(41)}"`],
  ['an empty text', '""'],
])('a record whose user id is %s is not read', async (_, id) => {
  const hostile = recordToJson(someRecord).replace(String(someRecord.user.id), id);
  await expect(readRecord('json', hostile)).rejects.toThrow('Invalid record');
});

test.each(['null', '""', '-1', '1.5'])('a record whose width is %s is not read', async (width) => {
  const damaged = recordToJson(someRecord).replace(String(someRecord.width), width);
  await expect(readRecord('json', damaged)).rejects.toThrow('Invalid record in the response: width');
});

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
  ['a number of a million digits', '1'.repeat(1e6)],
  ['a text of a million digits', `"${'1'.repeat(1e6)}"`],
  ['an empty text', '""'],
])('a record whose user id is %s is not read, and takes no time', { timeout: 1000 }, async (_, id) => {
  const hostile = recordToJson(someRecord).replace(String(someRecord.user.id), id);
  await expect(readRecord('json', hostile)).rejects.toThrow('Invalid record');
});

import { recordsToJson, recordToJson } from '@echodrop/record';
import { expect, test } from 'vitest';
import { UnreadableResponse } from './client-errors.ts';
import { readPage, readRecord } from './read-response.ts';
import { someRecord } from './service.fixture.ts';

test('a record with an address that is not http(s) is not read', async () => {
  const hostile = recordToJson({ ...someRecord, url: 'javascript:alert(1)' });
  await expect(readRecord('json', hostile)).rejects.toThrow(UnreadableResponse);
});

test.each([' ', '\u00a0', '\u2800', '\u202e'])('an address with the blank %j is not read', async (blank) => {
  const padded = `https://a.example/${blank.repeat(80)}Sign-in expired`;
  await expect(readRecord('json', recordToJson({ ...someRecord, url: padded }))).rejects.toThrow('url');
});

test.each(['9-x y', '9-x\u00a0', "9';touch<owned#", '9'.repeat(201)])(
  'a cursor that is not one short word is not read: %j',
  async (next) => {
    await expect(readPage(recordsToJson({ records: [], next }))).rejects.toThrow('next');
  },
);

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

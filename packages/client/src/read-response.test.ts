import { recordToJson } from '@echodrop/record';
import { expect, test } from 'vitest';
import { UnreadableResponse } from './client-errors.ts';
import { readRecord } from './read-response.ts';
import { someRecord } from './service.fixture.ts';

test('a record with an address that is not http(s) is not read', async () => {
  const hostile = recordToJson({ ...someRecord, url: 'javascript:alert(1)' });
  await expect(readRecord('json', hostile)).rejects.toThrow(UnreadableResponse);
});

import { Secret } from '@echodrop/service/secret';
import { expect, test } from 'vitest';
import { ApiKeys } from '../admit/api-keys.ts';
import { Refusal } from '../answer/refusals.ts';
import type { FieldName } from './part-headers.ts';
import type { ReceivedMedia } from './received-media.ts';
import { requireParameters } from './require-upload.ts';

const apiKeys = new ApiKeys(new Secret('web=first, second'));
const stored = { key: 'media/a', size: 1, etag: 'e', crc32: '00000000' };
const media = { tooLarge: false, stored: async () => stored } as ReceivedMedia;

function form(fields: Partial<Record<FieldName, string>>, files: readonly FieldName[] = []) {
  const given = new Map(Object.entries(fields) as [FieldName, string][]);
  return { fields: given, files: new Set(files), media };
}

test('historic mode forgives that no message came, and not that it came as a file', async () => {
  expect(await requireParameters(form({ key: 'first' }), apiKeys, 'historic')).toMatchObject({ message: '' });
  const asFile = form({ key: 'first' }, ['message']);
  await expect(requireParameters(asFile, apiKeys, 'historic')).rejects.toEqual(new Refusal('parameter_missing'));
  await expect(requireParameters(form({ key: 'first' }), apiKeys, 'strict')).rejects.toEqual(
    new Refusal('parameter_missing'),
  );
});

test('an application is called what the operator called it, or after the hash of its key, never by the key', async () => {
  expect(await requireParameters(form({ key: 'first', message: '' }), apiKeys, 'strict')).toMatchObject({
    application: 'web',
  });
  const { application } = await requireParameters(form({ key: 'second', message: '' }), apiKeys, 'strict');
  expect(application).toMatch(/^key-[0-9a-f]{8}$/);
  await expect(requireParameters(form({ key: 'web=first', message: '' }), apiKeys, 'strict')).rejects.toEqual(
    new Refusal('api_key_unknown'),
  );
});

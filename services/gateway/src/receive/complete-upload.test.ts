import { missingSentences } from '@echodrop/contracts/refusal-statuses-and-messages';
import { Secret } from '@echodrop/service/secret';
import { expect, test } from 'vitest';
import { ApiKeys } from '../admit/api-keys.ts';
import { requireParameters } from './complete-upload.ts';
import type { FieldName } from './part-headers.ts';
import type { ReceivedMedia } from './received-media.ts';

const apiKeys = new ApiKeys(new Secret('web=first, second'));
const media = {} as ReceivedMedia;

function form(fields: Partial<Record<FieldName, string>>, files: readonly FieldName[] = []) {
  const given = new Map(Object.entries(fields) as [FieldName, string][]);
  return { fields: given, files: new Set(files), media };
}

test('historic mode accepts a form without a message, but not a file as message', () => {
  expect(requireParameters(form({ key: 'first' }), apiKeys, 'historic')).toMatchObject({ message: '' });
  const asFile = form({ key: 'first' }, ['message']);
  expect(() => requireParameters(asFile, apiKeys, 'historic')).toThrow('parameter_missing');
  expect(() => requireParameters(form({ key: 'first' }), apiKeys, 'strict')).toThrow('parameter_missing');
});

test.each<[string, string | undefined]>([
  ['  Two boats\r\n', 'Two boats'],
  [' \t\r\n', undefined],
  ['', undefined],
])('the alternative text %j becomes %j', (sent, alt) => {
  const content = form({ key: 'first', message: '', alt: sent });
  expect(requireParameters(content, apiKeys, 'strict').alt).toBe(alt);
});

test('the message names the missing parameter', () => {
  const check = (content: Parameters<typeof requireParameters>[0]) => () =>
    requireParameters(content, apiKeys, 'strict');
  expect(check(form({ message: '' }))).toThrow(expect.objectContaining({ sentence: missingSentences.key }));
  expect(check(form({ key: 'first' }))).toThrow(expect.objectContaining({ sentence: missingSentences.message }));
  const noMedia = { ...form({ key: 'first', message: '' }), media: undefined };
  expect(check(noMedia)).toThrow(expect.objectContaining({ sentence: missingSentences.media }));
});

test('an application has its configured name, or one from the hash of its key', () => {
  const applicationOf = (key: string) => requireParameters(form({ key, message: '' }), apiKeys, 'strict').application;
  expect(applicationOf('first')).toBe('web');
  expect(applicationOf('second')).toMatch(/^key-[0-9a-f]{8}$/);
  expect(() => applicationOf('web=first')).toThrow('api_key_unknown');
});

test("the key of the site's pages counts as the application web-upload", () => {
  const withPages = new ApiKeys(new Secret('web=first'), 'public-key');
  const content = form({ key: 'public-key', message: '' });
  expect(requireParameters(content, withPages, 'strict').application).toBe('web-upload');
  expect(() => requireParameters(content, apiKeys, 'strict')).toThrow('api_key_unknown');
});

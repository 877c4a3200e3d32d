import { Secret } from '@echodrop/service/secret';
import { expect, test } from 'vitest';
import { ApiKeys } from '../admit/api-keys.ts';
import { requireParameters } from './complete-upload.ts';
import type { FieldName } from './part-headers.ts';
import type { ReceivedMedia } from './received-media.ts';
import { ReceivedNames } from './received-names.ts';

const apiKeys = new ApiKeys(new Secret('web=first, second'));
const media = {} as ReceivedMedia;

function form(fields: Partial<Record<FieldName, string>>, misplaced: Readonly<Record<string, string>> = {}) {
  const given = new Map(Object.entries(fields) as [FieldName, string][]);
  const received = new ReceivedNames([...given.keys(), ...Object.keys(misplaced)]);
  return { fields: given, misplaced: new Map(Object.entries(misplaced)), received, media };
}

test('historic mode accepts a form without a message, but not a file as message', () => {
  expect(requireParameters(form({ key: 'first' }), apiKeys, 'historic')).toMatchObject({ message: '' });
  const asFile = form({ key: 'first' }, { message: 'Content-Type application/json' });
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

const typed = 'Content-Type application/json';
const noMedia = { ...form({ key: 'first', message: '' }), media: undefined };

test.each([
  ['Missing parameter: key. Received: message.', form({ message: '' })],
  [
    `Missing parameter: key. Received: ${['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40)).join(', ')}.`,
    { ...form({}), received: new ReceivedNames(['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(40))) },
  ],
  [
    'Missing parameter: key. Received: a name with other characters, file.',
    { ...form({}), received: new ReceivedNames(['media[]', 'a'.repeat(41), 'file']) },
  ],
  // A parameter counts, however late it comes.
  [
    'Parameter key is empty.',
    { ...form({}), received: new ReceivedNames([...Array(20).keys()].map(String).concat('key')) },
  ],
  ['Missing parameter: key. Received: none.', { ...form({}), media: undefined }],
  ['Parameter key is empty.', form({ key: '', message: '' })],
  [`Parameter key was sent as a file (${typed}); send it as text.`, form({ message: '' }, { key: typed })],
  ['Missing parameter: message. Received: key.', form({ key: 'first' })],
  [`Parameter message was sent as a file (${typed}); send it as text.`, form({ key: 'first' }, { message: typed })],
  ['Missing parameter: media. Received: key, message.', noMedia],
  [
    'Parameter media was sent as text; send it as a file, with a file name.',
    { ...form({ key: 'first', message: '' }, { media: '' }), media: undefined },
  ],
  ['Parameter media is empty.', { ...noMedia, received: new ReceivedNames(['media']) }],
])('%s', (sentence, content) => {
  expect(() => requireParameters(content, apiKeys, 'strict')).toThrow(expect.objectContaining({ sentence }));
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

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText, anyUserId } from './any-text.fixture.ts';
import { isTombstone, publicRecord, type StoredRecord } from './media-record.ts';
import { maxRecordBytes, maxTextLengths } from './record-limits.ts';
import { sampleRecord as stored } from './sample-record.fixture.ts';
import { decodeStoredRecord, encodeStoredRecord, encodeTombstone, UnreadableRecord } from './stored-record.ts';

const decode = (bytes: Buffer) => decodeStoredRecord(bytes, stored.id);

test('reads a record as written, with any text and user', () => {
  fc.assert(
    fc.property(anyText, anyText, anyUserId, (text, subject, id) => {
      const record = { ...stored, text, alt: text, subject, application: text, user: { id, screenName: text } };
      expect(decode(encodeStoredRecord(record))).toEqual(record);
    }),
  );
});

test('ignores fields that a later release adds to a record of this version', () => {
  const bytes = Buffer.from(
    encodeStoredRecord(stored).toString().replace('{', '{"licence":"CC0","__proto__":{"id":"x"},'),
  );
  expect(decode(bytes)).toEqual(stored);
});

test('reads a tombstone as written; it contains no caption, alternative text or name', () => {
  const { id, mediaKey, timestamp } = stored;
  const removed = { by: 'owner', at: new Date('2026-11-22T08:00:00.000Z') } as const;
  const tombstone = { id, mediaKey, timestamp, owner: '6f5902ac237024bdd0c176cb93063dc4', removed };
  expect(decode(encodeTombstone(tombstone))).toEqual(tombstone);
  expect(isTombstone(decode(encodeTombstone(tombstone)))).toBe(true);
  expect(isTombstone(decode(encodeStoredRecord(stored)))).toBe(false);
  const bytes = encodeTombstone({ ...stored, owner: '6f5902ac237024bdd0c176cb93063dc4', removed }).toString();
  const { text, alt, user } = stored;
  expect([text, alt, user.screenName].filter((said) => bytes.includes(`${said}`))).toEqual([]);
});

test('a record without alternative text has no field for it', () => {
  expect(JSON.parse(encodeStoredRecord({ ...stored, alt: undefined }).toString())).not.toHaveProperty('alt');
});

// Every release must read these files, so they never change. A new version or field adds a file.
test('reads records and tombstones of every version', async () => {
  const kept = async (name: string) => decode(await readFile(join(import.meta.dirname, 'kept', name)));
  const timestamp = new Date('2026-11-21T11:36:34.567Z');
  const mediaKey = '00112233445566778899aabbccddeeff';
  const record = {
    id: '0aZ9bY8cX7',
    text: 'Tulips & "größe" \u2028\u{1F337}',
    width: 4032,
    height: 3024,
    size: 123456,
    type: 'jpg',
    etag: '5d41402abc4b2a76b9719d911017c592',
    application: 'Birdsong',
    mediaKey,
    timestamp,
    provider: 'https://identity.example/verify.json',
    subject: '1059182745930317825',
    user: { id: 1059182745930317825n, screenName: 'mia' },
  };
  expect(await kept('record-1.json')).toEqual(record);
  expect(await kept('record-1-alt.json')).toEqual({ ...record, alt: 'Red flowers' });
  expect(await kept('tombstone-1.json')).toEqual({
    id: '0aZ9bY8cX7',
    mediaKey,
    owner: '6f5902ac237024bdd0c176cb93063dc4',
    timestamp,
    removed: { by: 'operator', at: new Date('2026-11-22T08:00:00Z') },
  });
  const names = ['record-1-alt.json', 'record-1.json', 'tombstone-1.json'];
  expect((await readdir(join(import.meta.dirname, 'kept'))).sort()).toEqual(names);
});

test('reports the version that a later release wrote', () => {
  const later = Buffer.from(JSON.stringify({ ...written, version: 12, width: { pixels: 4032 } }));
  expect(() => decode(later)).toThrow('unsupported version 12; this release reads 1');
});

const written = JSON.parse(encodeStoredRecord(stored).toString());

const tombstone = JSON.parse(
  encodeTombstone({ ...stored, owner: 'f'.repeat(32), removed: { by: 'owner', at: new Date() } }).toString(),
);

test.each([
  ['invalid id', { ...written, id: '../../x/' }],
  ['invalid user.id', { ...written, user: { id: 'mia', screen_name: 'mia' } }],
  ['invalid removed.by', { ...tombstone, removed: { ...tombstone.removed, by: '\u001b[2J' } }],
  ['not a record', { ...written, version: '1' }],
])('says "%s" of a record', (why, record) => {
  expect(() => decode(Buffer.from(JSON.stringify(record)))).toThrow(new UnreadableRecord(why));
});

test.each([
  ['nothing', ''],
  ['invalid JSON', '<image/>'],
  ['truncated JSON', JSON.stringify(written).slice(0, -1)],
  ['null', 'null'],
  ['a number', '1'],
  ['a list', '[]'],
  ['an empty object', '{}'],
  ['a later version', JSON.stringify({ ...written, version: 2 })],
  ['no version', JSON.stringify({ ...written, version: undefined })],
  ['no user', JSON.stringify({ ...written, user: undefined })],
  ['a user id that is not an integer', JSON.stringify({ ...written, user: { id: 1.5, screen_name: 'mia' } })],
  ['an invalid time', JSON.stringify({ ...written, timestamp: 'yesterday' })],
  ['a width that is a string', JSON.stringify({ ...written, width: '4032' })],
  ['no media key', JSON.stringify({ ...written, media_key: undefined })],
  // What a service that was taken over might write.
  ['the record of another id', JSON.stringify({ ...written, id: '1aZ9bY8cX7' })],
  ['an id that is a path', JSON.stringify({ ...written, id: '../../x/' })],
  ['a type that is a file name', JSON.stringify({ ...written, type: '/../.bashrc' })],
  ['a type with capitals', JSON.stringify({ ...written, type: 'JPG' })],
  ['a media key that is a path', JSON.stringify({ ...written, media_key: '../records/0aZ9bY8cX7.json' })],
  ['a time before 1970', JSON.stringify({ ...written, timestamp: '1969-12-31T23:59:59.999Z' })],
  ['a time that has no place in listings', JSON.stringify({ ...written, timestamp: '2286-11-20T17:46:40.000Z' })],
  ['a width of 0', JSON.stringify({ ...written, width: 0 })],
  ['a negative size', JSON.stringify({ ...written, size: -1 })],
  ['a size beyond exact integers', JSON.stringify({ ...written, size: 2 ** 60 })],
  ['a checksum of another length', JSON.stringify({ ...written, crc32: 'abc' })],
  ['a user id of more than 64 bits', JSON.stringify(written).replace(/"id":\d+/, `"id":${2n ** 64n}`)],
  ['a type that is that of the record', JSON.stringify({ ...written, type: 'json' })],
  ['a tombstone of no owner', JSON.stringify({ ...tombstone, owner: '../..' })],
])('%s is an UnreadableRecord', (_, text) => {
  expect(() => decode(Buffer.from(text))).toThrow(UnreadableRecord);
});

const withText = (name: string, text: string): StoredRecord =>
  name === 'screenName' ? { ...stored, user: { ...stored.user, screenName: text } } : { ...stored, [name]: text };

test.each(Object.entries(maxTextLengths))('%s has at most %i UTF-16 units', (name, max) => {
  const longest = withText(name, '&'.repeat(max));
  expect(decode(encodeStoredRecord(longest))).toEqual(longest);
  expect(() => decode(encodeStoredRecord(withText(name, '&'.repeat(max + 1))))).toThrow(UnreadableRecord);
});

test('the longest texts of writers are readable', () => {
  const text = '\u0001'.repeat(64 * 1024);
  const alt = '\u{1F6A4}\r\n'.repeat(750);
  const provider = `https://a.example/${'a'.repeat(100_000)}`;
  const subject = '1'.repeat(60_000);
  const user = { ...stored.user, screenName: 'm'.repeat(255) };
  const longest = { ...stored, text, alt, provider, subject, application: 'a'.repeat(100_000), user };
  const bytes = encodeStoredRecord(longest);
  expect(bytes.length).toBeLessThan(maxRecordBytes);
  expect(decode(bytes)).toEqual(longest);
});

test('every text of a record has a limit', () => {
  const texts = Object.entries({ ...stored, ...stored.user }).filter(([, value]) => typeof value === 'string');
  const exact = ['id', 'type', 'mediaKey'];
  expect(
    texts
      .map(([name]) => name)
      .filter((name) => !exact.includes(name))
      .sort(),
  ).toEqual(Object.keys(maxTextLengths).sort());
});

test('the public record has the address of its page, and no private field', () => {
  const { mediaKey: _, alt, etag, provider, subject, application, ...shown } = stored;
  expect(publicRecord(stored, 'https://photos.example')).toEqual({
    ...shown,
    url: 'https://photos.example/0aZ9bY8cX7',
  });
});

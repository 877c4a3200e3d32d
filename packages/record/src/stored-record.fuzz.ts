import { edited, edits } from '@echodrop/testkit/fuzz/edited-bytes';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import { anyText, anyUserId } from './any-text.fixture.ts';
import { exactNumber } from './exact-json.ts';
import { isTombstone, publicRecord, type StoredRecord } from './media-record.ts';
import { recordToJson, recordToXml } from './record-as-xml-and-json.ts';
import { sampleRecord } from './sample-record.fixture.ts';
import { decodeStoredRecord, encodeStoredRecord, encodeTombstone, UnreadableRecord } from './stored-record.ts';
import { xmlParsers } from './xml-parsers.fixture.ts';

const record = { ...sampleRecord, crc32: '0011aaff' };
const { id } = record;
const tombstone = { ...record, owner: 'f'.repeat(32), removed: { by: 'owner', at: record.timestamp } } as const;

const hostileTexts = fc.constantFrom(
  ...[
    '../../x/',
    '/../.bashrc',
    '\u001b[2J',
    '\u009b31m',
    '\u202e',
    'a\0b',
    '%2e%2e',
    '__proto__',
    '',
    '1aZ9bY8cX7',
    'JPG',
  ],
  ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-02-30T00:00:00Z', '1e400', 'x'.repeat(70_000)],
);
const hostileNumbers = fc.oneof(
  fc.double(),
  anyUserId.map(exactNumber),
  fc.constantFrom(...[10n ** 30n, -(10n ** 400n)].map(exactNumber)),
  fc.constantFrom(0, -1, 1.5, 2 ** 53, 1e308),
);
const fields = [
  'version',
  'id',
  'text',
  'alt',
  'width',
  'height',
  'size',
  'type',
  'timestamp',
  'media_key',
  'etag',
  'crc32',
];
const others = ['provider', 'subject', 'application', 'user', 'owner', 'removed', '__proto__', 'licence'];
const value = fc.oneof(anyText, hostileTexts, hostileNumbers, fc.jsonValue({ maxDepth: 3 }), fc.constant(undefined));
const user = fc.record({ id: hostileNumbers, screen_name: fc.oneof(anyText, value) });
const changed = fc.oneof(fc.tuple(fc.constantFrom(...fields, ...others), value), fc.tuple(fc.constant('user'), user));
const cases = fc.record({
  isTombstone: fc.boolean(),
  changes: fc.array(changed, { maxLength: 3 }),
  bytes: edits(2, ['"id":"../x"', '{', '}', '[[[[', ',', '\\u0000', '\\ud800', '\xff', '"version":1', '1e999']),
});

fuzz('an object is a record in range, or unreadable', cases, ({ isTombstone: isRemoved, changes, bytes }) => {
  const whole = JSON.parse((isRemoved ? encodeTombstone(tombstone) : encodeStoredRecord(record)).toString());
  const object = Object.assign(Object.create(null), whole, Object.fromEntries(changes));
  const stored = edited(Buffer.from(JSON.stringify(object)), bytes);
  const found = decodedOr(stored);
  if (!found) return;
  expect(found.id).toBe(id);
  expect(found.mediaKey).toMatch(/^[0-9a-f]{32}$/);
  expect(found.timestamp.getTime()).toSatisfy((ms: number) => ms >= 0 && ms < 1e13);
  if (isTombstone(found)) return expect(decodeStoredRecord(encodeTombstone(found), id)).toEqual(found);
  expect(found.type).toMatch(/^[a-z0-9]{1,8}$/);
  for (const count of [found.width, found.height, found.size + 1])
    expect(Number.isSafeInteger(count - 1) && count > 0).toBe(true);
  expect(decodeStoredRecord(encodeStoredRecord(found), id)).toEqual(found);
  expectRepresentable(found);
});

function decodedOr(bytes: Buffer) {
  try {
    return decodeStoredRecord(bytes, id);
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    expect(error.message.length).toBeLessThan(200);
    return undefined;
  }
}

/** Clients can parse both formats. */
function expectRepresentable(found: StoredRecord): void {
  const shown = publicRecord(found, 'https://photos.example');
  expect(JSON.parse(recordToJson(shown)).text).toBe(found.text);
  for (const [, parse] of xmlParsers) expect(parse(recordToXml(shown))['image/user/id']).toBe(`${found.user.id}`);
}

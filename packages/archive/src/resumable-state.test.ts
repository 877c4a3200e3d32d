import { mediaObjectKey, newMediaKey, recordKey } from '@echodrop/object-store/object-keys';
import { newStagedWrite, type StagedWrite } from '@echodrop/object-store/staged-write';
import { maxTextLengths, newMediaId } from '@echodrop/record';
import { expect, test } from 'vitest';
import { decodeState, encodeState, newTailKey, type ResumableState, UnreadableState } from './resumable-state.ts';

const id = newMediaKey();
const mediaKey = newMediaKey();
const empty = newStagedWrite(mediaObjectKey(mediaKey), 'image/jpeg');
const tail = { size: 5, before: '00000000' };
const write: StagedWrite = {
  ...empty,
  size: 8_388_613,
  crc32: '0a1b2c3d',
  id: '2~AbC-_.d',
  parts: [{ etag: '5d41402abc4b2a76b9719d911017c592', crc32: 'AbC+/w==' }],
  tails: [{ key: newTailKey(id), ...tail }],
};
const state: ResumableState = {
  provider: 'https://id.example/',
  subject: '1',
  application: 'app',
  message: 'hello\u2028',
  alt: 'Soup',
  metadata: 'key YQ==,naïve YQ==',
  idempotencyKey: 'a b',
  length: 9_000_000,
  mediaKey,
  isPublished: false,
  expires: new Date('2026-12-01T12:00:00Z'),
  head: '/9j/4AA=',
  mediaId: newMediaId(),
  write,
};

test('a state is read as it was written', () => {
  expect(decodeState(encodeState(state), id)).toEqual(state);
  const first = { ...state, head: '', write: empty, length: undefined, mediaId: undefined };
  expect(decodeState(encodeState(first), id)).toEqual(first);
});

const others: Record<string, Partial<ResumableState>> = {
  'media of another upload': { write: { ...write, key: mediaObjectKey(newMediaKey()) } },
  'a record in place of its media': { write: { ...write, key: recordKey(newMediaId()) } },
  'a record among its tails': { write: { ...write, tails: [{ key: recordKey(newMediaId()), ...tail }] } },
  'a tail of another upload': { write: { ...write, tails: [{ key: newTailKey(newMediaKey()), ...tail }] } },
  'a tail without a random name': { write: { ...write, tails: [{ key: `resumable/${id}/tail-1`, ...tail }] } },
  'a media key that is a path': { mediaKey: 'a/b', write: { ...write, key: 'media/a/b' } },
  'an id of a record that is a path': { mediaId: '../a' },
  'markup in the tag of a part': { write: { ...write, parts: [{ etag: '"</ETag>', crc32: 'AbC+/w==' }] } },
  'more parts than S3 has': { write: { ...write, parts: Array(10_001).fill(write.parts[0]) } },
  'a line break in a header': { write: { ...write, contentType: 'a/b\r\nc: d' } },
  'a line break in metadata': { metadata: 'key YQ==\r\n' },
  'a negative size': { write: { ...write, size: -1 } },
  'a head longer than 16 KiB': { head: 'A'.repeat(24_000) },
  'a long provider': { provider: 'a'.repeat(maxTextLengths.provider + 1) },
  'a long subject': { subject: 'a'.repeat(maxTextLengths.subject + 1) },
  'a long application': { application: 'a'.repeat(maxTextLengths.application + 1) },
  'a message longer than a field': { message: 'a'.repeat(maxTextLengths.text + 1) },
  'a long alternative text': { alt: 'a'.repeat(maxTextLengths.alt + 1) },
  'metadata longer than headers': { metadata: 'a'.repeat(32 * 1024 + 1) },
  'a long idempotency key': { idempotencyKey: 'a'.repeat(256) },
};

test.each(Object.entries(others))('%s makes it unreadable', (_, change) => {
  // Written by hand: our encoder refuses some.
  const { expires } = state;
  const bytes = Buffer.from(JSON.stringify({ version: 1, ...state, ...change, expires: expires.toISOString() }));
  expect(() => decodeState(bytes, id)).toThrow(UnreadableState);
});

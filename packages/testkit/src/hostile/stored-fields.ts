import type { SeededRandom } from '../seeded-random.ts';
import { hostileJsonValues } from './hostile-values.ts';

/** Uploads that the hostile objects refer to: of the owner whose uploads tests handle, and of another. */
export interface Referenced {
  readonly provider: string;
  readonly subject: string;
  /** Their hash. */
  readonly owner: string;
  readonly mediaId: string;
  readonly mediaKey: string;
  readonly otherId: string;
  readonly otherMediaKey: string;
  /** The most UTF-16 units of each text of a record. */
  readonly maxTextLengths: Readonly<Record<string, number>>;
}

/** Fields of a JSON object, each as JSON. */
export type Fields = Readonly<Record<string, string>>;

const time = '"2026-11-21T11:36:34.567Z"';
// For each field of each kind. All values would be thousands of objects.
const valuesPerField = 4;

/** The fields of a valid record but its id, with media that is missing. */
export function recordFields({ provider, subject }: Referenced, random: SeededRandom): Fields {
  return {
    version: '1',
    text: '"Lunch"',
    alt: '"Soup"',
    width: '320',
    height: '240',
    size: '5',
    type: '"jpg"',
    etag: '"5-1"',
    crc32: '"00000000"',
    provider: quoted(provider),
    subject: quoted(subject),
    application: '"test"',
    media_key: quoted(random.hex(32)),
    timestamp: time,
    user: '{"id":12345,"screen_name":"ada"}',
  };
}

/** The fields of a valid tombstone but its id. */
export function tombstoneFields({ owner }: Referenced, random: SeededRandom): Fields {
  const removed = `{"by":"owner","at":${time}}`;
  return { version: '1', media_key: quoted(random.hex(32)), timestamp: time, owner: quoted(owner), removed };
}

/** The fields of a valid state of a resumable upload. */
export function stateFields({ provider, subject }: Referenced, random: SeededRandom): Fields {
  const write = writeFields(random);
  return {
    version: '1',
    expires: '"2999-01-01T00:00:00Z"',
    provider: quoted(provider),
    subject: quoted(subject),
    application: '"test"',
    message: '"Lunch"',
    alt: '"Soup"',
    metadata: '"key YQ=="',
    idempotencyKey: '"a"',
    length: '5',
    mediaKey: (write['key'] ?? '').replace('media/', ''),
    head: '"AAAA"',
    write: documentOf(write).toString(),
    mediaId: '"aaaaaaaaaa"',
    isPublished: 'false',
  };
}

/** The fields of its staged write. */
export function writeFields(random: SeededRandom): Fields {
  const key = quoted(`media/${random.hex(32)}`);
  return { key, contentType: '"a/b"', size: '3', crc32: '"00000000"', id: '"none"', parts: '[]', tails: '[]' };
}

/** Variants of `fields`. Each variant lacks one field, or has a hostile value in it. */
export function* changedFields(fields: Fields, random: SeededRandom): Generator<Fields> {
  for (const name of Object.keys(fields)) {
    const { [name]: _, ...rest } = fields;
    yield rest;
    for (const value of random.shuffled(hostileJsonValues).slice(0, valuesPerField)) yield { ...fields, [name]: value };
  }
}

/** Variants of `fields`. Each variant has a text that is as long as possible, or longer by one character. Lists spell `&` in up to six bytes. */
export function* longFields(fields: Fields, maxTextLengths: Referenced['maxTextLengths']): Generator<Fields> {
  for (const [name, max] of Object.entries(maxTextLengths))
    for (const text of [max, max + 1].map((length) => quoted('&'.repeat(length)))) {
      if (name in fields) yield { ...fields, [name]: text };
      if (name === 'screenName' && 'user' in fields) yield { ...fields, user: `{"id":12345,"screen_name":${text}}` };
    }
}

export function documentOf(fields: Fields): Buffer {
  return Buffer.from(
    `{${Object.entries(fields)
      .map(([name, value]) => `"${name}":${value}`)
      .join(',')}}`,
  );
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idempotencyKeyOf } from './idempotency.ts';

const keyIn = (value: string) => idempotencyKeyOf({ 'idempotency-key': value });
const longest = 'k'.repeat(255);

test.each([
  ['a string in quotes', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['spaces within quotes', '"my key"', 'my key'],
  ['escaped quotes and backslashes', String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  ['no quotes, as older clients send it', '8e03978e-40d5', '8e03978e-40d5'],
  ['the longest, in quotes', `"${longest}"`, longest],
  ['the longest, without quotes', longest, longest],
])('%s is accepted', (_what, value, key) => {
  expect(keyIn(value)).toBe(key);
});

test.each([
  ['nothing', ''],
  ['an empty string', '""'],
  ['an unclosed quote', '"abc'],
  ['a quote within an unquoted key', 'a"b'],
  ['an escape that ends the string', String.raw`"abc\"`],
  ['an escape of another character', String.raw`"a\bc"`],
  ['spaces in an unquoted key', 'a b'],
  ['two headers, joined by Node', '"a", "b"'],
  ['two headers without quotes', 'a, b'],
  ['a string with parameters', '"a";b=c'],
  ['characters that are not ASCII', '"schl\u00fcssel"'],
  ['a tab', '"a\tb"'],
  ['too long', `"${longest}k"`],
])('%s is refused as malformed', (_what, value) => {
  expect(() => keyIn(value)).toThrow('idempotency_key_malformed');
});

test('without a header there is no key', () => {
  expect(idempotencyKeyOf({})).toBeUndefined();
});

test('a quoted key is read as written', () => {
  const printable = fc.string({ minLength: 1, maxLength: 255, unit: 'grapheme-ascii' });
  fc.assert(
    fc.property(printable, (key) => {
      expect(keyIn(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key);
    }),
  );
});

import { quoteForTerminal } from '@echodrop/service/terminal-text';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteName, readName } from './name-arguments.ts';

const anyName = fc.string({
  unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), loneSurrogate()),
});

function loneSurrogate() {
  return fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
}

test('the printed form of any name is an argument for the same name', () => {
  fc.assert(
    fc.property(anyName, (name) => {
      // `list` and `blocks` print the first, `show` the second.
      expect(readName(quoteName(name.slice(0, 255)))).toBe(name.slice(0, 255));
      expect(readName(quoteForTerminal(name, Number.POSITIVE_INFINITY))).toBe(name);
    }),
  );
});

test.each(['\u{1f44d}', '\ud800', '"', '\u202e'])(
  '255 of %j, the longest id of a provider, are printed whole',
  (unit) => {
    const name = unit.repeat(255 / unit.length);
    expect(readName(quoteName(name))).toBe(name);
  },
);

test('an argument without both quotes is taken as it is', () => {
  const isPlain = (text: string) => text !== '' && !(text.startsWith('"') && text.endsWith('"'));
  fc.assert(
    fc.property(anyName.filter(isPlain), (name) => {
      expect(readName(name)).toBe(name);
    }),
  );
  for (const name of ['109', '\\u202e1', '\'"1"\'', '"1', '1"', ' "1"', '-1']) expect(readName(name)).toBe(name);
});

test.each(['"', '"""', '"a"b"', '"\\x"', '"\\"', '"\\ud8"', '"\u001b"'])('%j is malformed', (argument) => {
  expect(() => readName(argument)).toThrow('Malformed JSON string');
});

test('an empty argument is refused', () => {
  expect(() => readName('')).toThrow('Must not be empty.');
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldLines, quotedName, visible, visibleName } from './visible-text.ts';

// C0, C1, line separators; bidirectional controls; zero-width, invisible, and tag characters.
const hidden = [0x1b, 0x07, 0x0a, 0x7f, 0x9b, 0x2028, 0x061c, 0x200e, 0x202e, 0x2066, 0x200b, 0x200d, 0xfeff].concat([
  0xad, 0x034f, 0x115f, 0x2060, 0x2064, 0x3164, 0xfe0f, 0xe0041,
]);

test.each(hidden)('U+%x is a space', (code) => {
  const text = `a${String.fromCodePoint(code)}b`;
  expect(visible(text)).toBe('a b');
});

test('other text stays as it is', () => {
  const text = 'Straße, 写真, é, שלום, 🌊';
  expect(visible(text)).toBe(text);
});

test.each([
  '  ',
  '\u00a0\u00a0',
  '\u2003\u3000',
  '\u1680',
  '\u2800\u2800',
  '\u{1d159}',
  '\u{16fe4}',
  '\u{13441}',
  ' \n\t ',
])('the blanks %j are one space', (blanks) => {
  expect(visible(`a${blanks}b`)).toBe('a b');
});

test.each([
  ['mia', 'mia'],
  ['a'.repeat(10), 'a'.repeat(10)],
  ['a'.repeat(11), `${'a'.repeat(9)}…`],
  ['漢'.repeat(5), '漢'.repeat(5)],
  ['漢'.repeat(6), `${'漢'.repeat(4)}…`],
  [`a${' '.repeat(20)}b`, 'a b'],
])('the name %j in 10 columns is %j', (name, shown) => {
  expect(visibleName(name, 10)).toBe(shown);
});

test('a quoted name contains no other quotes', () => {
  expect(quotedName('Town", "Work')).toBe('"Town\\", \\"Work"');
});

test('long lines and words go on with an indent', () => {
  expect(foldLines(`one ${'b'.repeat(20)}`, 16)).toBe(`one ${'b'.repeat(12)}\n    ${'b'.repeat(8)}`);
  expect(foldLines('one two three four\n  Name   one two three', 16)).toBe(
    'one two three\n    four\n  Name   one two\n        three',
  );
  expect(foldLines('b'.repeat(20), 16)).toBe(`${'b'.repeat(12)}\n    ${'b'.repeat(8)}`);
});

test('letters that take two columns in some terminals fit into a row', () => {
  expect(foldLines('Ж'.repeat(10), 16)).toBe(`${'Ж'.repeat(6)}\n    ${'Ж'.repeat(4)}`);
});

test.each([0, 1, 2, 3])('a terminal of %i columns gets rows of four', (columns) => {
  expect(foldLines('one 漢字', columns)).toBe(foldLines('one 漢字', 4));
});

test('no untrusted text begins a row', () => {
  const anyWords = fc.array(
    fc.oneof(fc.constant('mine'), fc.string({ unit: fc.constantFrom('x', ' ', '漢', 'Ж', '\u00a0'), size: 'large' })),
  );
  fc.assert(
    fc.property(anyWords, fc.integer({ min: 20, max: 100 }), (words, columns) => {
      const lines = foldLines(`Error: ${visible(words.join(' '))}`, columns).split('\n');
      for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}/);
      for (const line of lines)
        expect(Array.from(line, (each) => (/[漢Ж]/.test(each) ? 'xx' : each)).join('').length).toBeLessThanOrEqual(
          columns,
        );
    }),
  );
});

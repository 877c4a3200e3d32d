import { expect, test } from 'vitest';
import { visible } from './visible-text.ts';

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

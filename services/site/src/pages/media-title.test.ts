import { expect, test } from 'vitest';
import { oneLine } from './media-title.ts';

test.each([
  ['line breaks and tabs', ' a\r\n b\t\u0000c\u00a0d ', 'a b c d'],
  ['direction marks', '\u202eone\u2066 two', 'one two'],
  ['half a surrogate pair', 'one\ud83d', 'one\ufffd'],
  ['invisible characters', '\u200b\u3164 \u2800\ufeff', ''],
  ['just the maximum', 'ten letter', 'ten letter'],
  ['more than the maximum', 'more than ten', 'more than…'],
])('makes one line of %s', (_, text, line) => {
  expect(oneLine(text, 10)).toBe(line);
});

test('keeps emojis whole or omits them', () => {
  expect(oneLine('🏳️‍🌈🏳️‍🌈🏳️‍🌈', 15)).toBe('🏳️‍🌈🏳️‍🌈…');
});

test('cuts a letter with a thousand accents', () => {
  expect(oneLine(`e${'\u0301'.repeat(5000)}`, 70).length).toBeLessThanOrEqual(71);
});

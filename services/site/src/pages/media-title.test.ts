import { expect, test } from 'vitest';
import { oneLine } from './media-title.ts';

test.each([
  ['line breaks and tabs', ' a\r\n b\t\u0000c\u00a0d ', 'a b c d'],
  ['what turns the text around it', '\u202eone\u2066 two', 'one two'],
  ['half a letter', 'one\ud83d', 'one\ufffd'],
  ['what shows nothing', '\u200b\u3164 \u2800\ufeff', ''],
  ['just as much as there is room for', 'ten letter', 'ten letter'],
  ['more than that', 'more than ten', 'more than…'],
])('a line is made of %s', (_, text, line) => {
  expect(oneLine(text, 10)).toBe(line);
});

test('emojis are kept whole or left out', () => {
  expect(oneLine('🏳️‍🌈🏳️‍🌈🏳️‍🌈', 15)).toBe('🏳️‍🌈🏳️‍🌈…');
});

test('a letter under a thousand accents is cut all the same', () => {
  expect(oneLine(`e${'\u0301'.repeat(5000)}`, 70).length).toBeLessThanOrEqual(71);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeLine, escapeLines, quoteForTerminal, unsafeCharacters } from './terminal-text.ts';

// By the names of Unicode, one or more of each kind.
const unsafe = {
  'C0 controls': '\0\u0007\b\t\r\u001b\u001f',
  DEL: '\u007f',
  'C1 controls': '\u0080\u0085\u009b\u009f',
  'bidirectional controls': '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
  'zero width': '\u200b\u200c\u200d\u2060\ufeff\u00ad',
  'line and paragraph separators': '\u2028\u2029',
  tags: '\u{e0001}\u{e0041}',
  'without a shape': '\u034f\u115f\u3164\ufe0f\uffa0',
  'lone surrogates': '\udfff\ud800',
};

test.each(Object.entries(unsafe))(
  '%s are escaped, also as a part of JSON, which keeps its value',
  (_kind, characters) => {
    for (const text of [characters, `a${characters}b`]) {
      expect(escapeLine(text)).toMatch(/^[ -~]+$/);
      expect(escapeLines(text)).toBe(escapeLine(text));
      expect(quoteForTerminal(text)).toMatch(/^"[ -~]+"$/);
      expect(JSON.parse(escapeLine(JSON.stringify({ [text]: text })))).toEqual({ [text]: text });
      expect(text.replace(unsafeCharacters, '')).toMatch(/^a?b?$/);
    }
  },
);

test('other text stays', () => {
  const text = 'Grüße, 写真 👍 é \\u001b "x"';
  expect(escapeLine(text)).toBe(text);
  expect(text).not.toMatch(new RegExp(unsafeCharacters.source, 'u'));
});

test('only text of several lines keeps its line breaks', () => {
  expect(escapeLine('a\nb\u009b')).toBe('a\\u000ab\\u009b');
  expect(escapeLines('a\nb\u009b')).toBe('a\nb\\u009b');
});

test('a quoted text is cut between characters, and is JSON of one line', () => {
  expect(quoteForTerminal('👍'.repeat(81))).toBe(`"${'👍'.repeat(79)}…"`);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      const quoted = quoteForTerminal(text, Number.POSITIVE_INFINITY);
      expect(quoted).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(JSON.parse(quoted)).toBe(text);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from './any-text.fixture.ts';
import { xmlDocument } from './xml-document.ts';
import { xmlParsers } from './xml-parsers.fixture.ts';

// XML 1.0, production 2; a lone surrogate is a code point of its own here.
function withoutForbidden(text: string): string {
  return text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
}

test.each(xmlParsers)('%s reads any text unchanged, except characters that XML 1.0 forbids', (_, parse) => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(parse(xmlDocument({ a: text }))).toEqual({ a: withoutForbidden(text) });
    }),
    { numRuns: 2000 },
  );
});

test('starts with the declaration, and has no text between elements', () => {
  const xml = xmlDocument({ a: { b: 1, c: { d: '' }, e: 'CR\rLF\n' } });
  expect(xml).toBe('<?xml version="1.0" encoding="UTF-8"?><a><b>1</b><c><d></d></c><e>CR&#xD;LF\n</e></a>');
});

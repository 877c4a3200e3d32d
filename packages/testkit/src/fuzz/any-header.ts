import fc from 'fast-check';

// Node joins repeated headers, refuses control characters in them, and reads each byte as a character.
const character = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code));
const plain = fc.string({ unit: character, maxLength: 20 });

/** The value of a header of up to 16 KiB, the most that Node accepts: `words` of its grammar, as a list or in any order, one of them often, and noise. */
export function anyHeader(words: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...words, ' ', '\t', ',', ';', '=', '"', '\\"') },
    plain,
  );
  const pieces = fc.array(piece, { maxLength: 40 });
  const repeated = fc.record({ piece, times: fc.integer({ min: 1, max: 4000 }) });
  const noise = fc
    .tuple(pieces, fc.option(repeated, { freq: 2 }), pieces)
    .map(([before, many, after]) => [...before, many ? many.piece.repeat(many.times) : '', ...after].join(''));
  const list = fc
    .tuple(fc.array(fc.constantFrom(...words), { maxLength: 8 }), fc.constantFrom(', ', ',', '; '))
    .map(([items, separator]) => items.join(separator));
  return fc.oneof(noise, list).map((text) => text.slice(0, 16 * 1024));
}

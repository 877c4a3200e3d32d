import fc from 'fast-check';

/** Any UTF-16, and often characters that markup, parsers and surrogates handle badly. */
export const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\r',
        '\n',
        '\r\n',
        '\t',
        ' ',
        '\u0085',
        '\u2028',
        '\u2029',
        '\uFEFF',
        '\0',
        '\x1B',
        '\x7F',
        '\x9F',
      ),
      fc.constantFrom('\uD800', '\uDC00', '\uFFFE', '\uFFFF', '\u{1FFFE}', '\u{10FFFF}', '😀', '__proto__', '\\'),
      fc.constantFrom('<', '>', '"', "'", ']]>', '<![CDATA[', '<!--', '-->', '<?', '?>', '@a', '#', '$'),
      fc.constantFrom('&', '&amp;', '&nbsp;', '&#xD;', '&#13;', '&#0;', '&lt', '&;'),
    ),
  )
  .map((pieces) => pieces.join(''));

/** All signed and unsigned integers of 64 bits. */
export const anyUserId = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.constantFrom(-(2n ** 63n), -1n, 0n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n),
);

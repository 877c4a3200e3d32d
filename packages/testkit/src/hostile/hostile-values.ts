/** What breaks a terminal: sequences, C1, directions, line separators. */
export const terminalText = '\u001b]0;x\u0007\u001b[2J\u009b31m\u202e\u2066\u2028\u2029\r\n\u0000\u007f';

/** Values for a field of JSON, written as in JSON. */
export const hostileJsonValues: readonly string[] = [
  ...['null', 'true', '[]', '{}', '""', '[[[[]]]]', '-1', '0', '-0', '1.5', '1e308', '1e999', '9007199254740993'],
  ...['-9223372036854775809', '18446744073709551616', '9'.repeat(5000)],
  ...['{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{}}}', '{"toString":1}'],
  ...[
    ...['../../x/', '../records/a', '/etc/passwd', '..', '.', 'json', 'a/b', 'a\\..\\b', '%2e%2e%2f', '__proto__'],
    ...['toString', terminalText, '<script>alert(1)</script>', ']]>', "'; DROP TABLE x; --", '\ud800'],
    ...['0000-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '2286-11-20T17:46:40Z', '9999-12-31T23:59:59.999Z'],
    ...['2026-02-30T00:00:00Z', '+275760-09-13T00:00:00Z', '2999-01-01T00:00:00Z', 'a'.repeat(70_000)],
  ].map((text) => JSON.stringify(text)),
];

/** Whole objects that are not what a reader expects. */
export function hostileBodies(): [what: string, body: Buffer][] {
  const text: Record<string, string> = {
    nothing: '',
    'half a document': '{"version":1,',
    null: 'null',
    list: '[1,2,3]',
    text: '"text"',
    number: '1e999',
    'a number of a million digits': '9'.repeat(1_000_000),
    'arrays in arrays': '['.repeat(500_000),
    'complete arrays in arrays': `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    'objects in objects': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    'a prototype': '{"__proto__":{"version":1,"id":"aaaaaaaaaa"},"constructor":{"prototype":{"version":1}}}',
    'a version of later': '{"version":2}',
    'a version of text': `{"version":${JSON.stringify(terminalText)}}`,
    'a byte order mark': '\ufeff{"version":1}',
    'control characters': terminalText,
  };
  return [
    ...Object.entries(text).map(([what, body]): [string, Buffer] => [what, Buffer.from(body)]),
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
    ['10 MB', Buffer.alloc(10_000_000, ' ')],
  ];
}

/** Last segments of keys that Echodrop never chooses. Each can be a file name, and a key in MinIO. */
export const hostileNames: readonly string[] = [
  ...['\u001b]0;x\u0007', '\u009b31m\u202e\u2066', 'a b+c', 'a%2fb', '%2e%2e', '..a', '...', '.hidden', '-rf', '~'],
  ...['&amp;<x>"\'', '$(id)', '`id`', '*', '?', '#', '\\', 'ü', '\u2028', '__proto__', 'constructor', 'null'],
  ...['0', '1e5', 'x'.repeat(200)],
];

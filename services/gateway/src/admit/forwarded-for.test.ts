import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientOf } from './client-of.fixture.ts';

test.each([
  [undefined, '127.0.0.1'],
  ['203.0.113.8', '203.0.113.8'],
  ['203.0.113.8:40001', '203.0.113.8'],
  ['[2001:db8::1]:40001', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:0102:0304', '1.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['64:ff9b::1.2.3.4', '1.2.3.4'],
  ['203.0.113.8:1, 10.0.0.1:2', '203.0.113.8'],
  ['203.0.113.8 ,, [fc00::1]:2,', '203.0.113.8'],
  ['', '127.0.0.1'],
  ['unknown', '127.0.0.1'],
  ['_hidden', '127.0.0.1'],
  ['203.0.113.8, unknown, 10.0.0.1', '10.0.0.1'],
  ['unknown, 203.0.113.8, unknown, 10.0.0.1', '10.0.0.1'],
  ['[203.0.113.8]', '127.0.0.1'],
  ['1.2.3', '127.0.0.1'],
])('the client of %j is %s', (header, client) => {
  expect(clientOf(header)).toBe(client);
});

test('whatever a trusted proxy sends, the client is an IP address', () => {
  const port = fc.option(fc.nat(70_000)).map((number) => (number === null ? '' : `:${number}`));
  const item = fc.oneof(
    fc.tuple(fc.ipV4(), port).map((parts) => parts.join('')),
    fc.tuple(fc.ipV6(), port).map(([address, suffix]) => `[${address}]${suffix}`),
    fc.ipV6(),
    fc.tuple(fc.ipV6(), fc.string()).map((parts) => parts.join('%')),
    fc.constantFrom('unknown', '_x', '', '::', 'localhost'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(item), fc.constantFrom(',', ', ', ' , '), (items, comma) => {
      expect(isIP(clientOf(items.join(comma)) ?? '')).toBeGreaterThan(0);
    }),
    { numRuns: 2000 },
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactNumber, parseExactJson } from './exact-json.ts';

test.each([
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['-9007199254740993', -9007199254740993n],
  ['18446744073709551615', 18446744073709551615n],
  ['1.5', 1.5],
  ['1e3', 1000],
  ['7.0', 7],
  ['9007199254740991.2', Number.NaN],
  ['0.99999999999999999999', Number.NaN],
  ['1e-400', Number.NaN],
  ['1e400', Number.POSITIVE_INFINITY],
  ['9007199254740993.5', 9007199254740994],
  ['"9007199254740993"', '9007199254740993'],
  ['null', null],
  ['{"a":[9007199254740993]}', { a: [9007199254740993n] }],
])('%s', (json, value) => {
  expect(parseExactJson(json)).toEqual(value);
});

test('reads what exactNumber wrote', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (value) => {
      const read = parseExactJson(JSON.stringify([exactNumber(value)])) as [number | bigint];
      expect(BigInt(read[0])).toBe(value);
    }),
  );
});

test('keeps a field named __proto__ as a field', () => {
  const read = parseExactJson('{"__proto__":{"admin":true}}') as Record<string, unknown>;
  expect(Object.keys(read)).toEqual(['__proto__']);
  expect(read['admin']).toBeUndefined();
});

test('throws a SyntaxError for invalid JSON', () => {
  expect(() => parseExactJson('{')).toThrow(SyntaxError);
});

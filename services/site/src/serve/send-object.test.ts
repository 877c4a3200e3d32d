import { expect, test } from 'vitest';
import { parseRange } from './send-object.ts';

test.each([
  ['bytes=0-0', { offset: 0, length: 1 }],
  ['bytes=10-19', { offset: 10, length: 10 }],
  ['bytes=90-', { offset: 90, length: 10 }],
  ['bytes=-10', { offset: 90, length: 10 }],
  ['Bytes= 1-2 ', { offset: 1, length: 2 }],
])('parses %s', (header, range) => {
  expect(parseRange(header, 100)).toEqual(range);
});

test('cuts a range at the end', () => {
  expect(parseRange('bytes=90-999', 100)).toEqual({ offset: 90, length: 10 });
  expect(parseRange('bytes=-999', 100)).toEqual({ offset: 0, length: 100 });
});

test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', `bytes=${'9'.repeat(400)}-`])(
  '%s is unsatisfiable for 100 bytes',
  (header) => {
    expect(parseRange(header, 100)).toBe('unsatisfiable');
  },
);

test('an empty object has no ranges', () => {
  expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
  expect(parseRange('bytes=-5', 0)).toBe('unsatisfiable');
});

test.each([undefined, '', 'bytes=-', 'bytes=5-2', 'bytes=0-1,3-4', 'items=0-1', 'bytes=a-b', 'bytes 0-1'])(
  '%s is the whole object',
  (header) => {
    expect(parseRange(header, 100)).toBe('whole');
  },
);

import { expect, test } from 'vitest';
import { askedRange } from './byte-range.ts';

test.each([
  ['bytes=0-0', { offset: 0, length: 1 }],
  ['bytes=10-19', { offset: 10, length: 10 }],
  ['bytes=90-', { offset: 90, length: 10 }],
  ['bytes=-10', { offset: 90, length: 10 }],
  ['Bytes= 1-2 ', { offset: 1, length: 2 }],
])('%s is a range of 100 bytes', (header, range) => {
  expect(askedRange(header, 100)).toEqual(range);
});

test('a range that reaches beyond the end is cut there', () => {
  expect(askedRange('bytes=90-999', 100)).toEqual({ offset: 90, length: 10 });
  expect(askedRange('bytes=-999', 100)).toEqual({ offset: 0, length: 100 });
});

test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', `bytes=${'9'.repeat(400)}-`])(
  '%s is none of 100 bytes',
  (header) => {
    expect(askedRange(header, 100)).toBe('unsatisfiable');
  },
);

test('nothing can be asked of an empty object', () => {
  expect(askedRange('bytes=0-', 0)).toBe('unsatisfiable');
  expect(askedRange('bytes=-5', 0)).toBe('unsatisfiable');
});

test.each([undefined, '', 'bytes=-', 'bytes=5-2', 'bytes=0-1,3-4', 'items=0-1', 'bytes=a-b', 'bytes 0-1'])(
  '%s means the whole',
  (header) => {
    expect(askedRange(header, 100)).toBe('whole');
  },
);

import { expect, test } from 'vitest';
import { MediaKeySet } from './media-key-set.ts';

test('finds and marks each of many keys, and only these', () => {
  const keys = new MediaKeySet();
  // More than a segment, with gaps of two.
  const count = 140_000;
  const keyOf = (n: number) => n.toString(16).padStart(32, '0');
  for (let n = 0; n < count; n += 1) keys.add(keyOf(2 * n));
  expect(() => keys.add(keyOf(0))).toThrow(RangeError);
  expect([keys.size, keys.unreferenced, keys.hasOrphans]).toEqual([count, count, true]);
  for (let n = 0; n < count; n += 1) keys.mark(keyOf(2 * n), n % 2 === 0 ? 'record' : 'tombstone');
  expect([keys.unreferenced, keys.hasOrphans]).toEqual([0, true]);
  for (const n of [0, 65_535, 65_536, 65_537, 131_071, 131_072, count - 1])
    expect(keys.referenceOf(keyOf(2 * n))).toBe(n % 2 === 0 ? 'record' : 'tombstone');
  expect(keys.referenceOf(keyOf(1))).toBeUndefined();
  for (let n = 0; n < count; n += 1) keys.mark(keyOf(2 * n), 'record');
  expect(keys.hasOrphans).toBe(false);
});

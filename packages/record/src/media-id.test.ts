import { expect, test } from 'vitest';
import { isMediaId, newMediaId } from './media-record.ts';

const sample = Array.from({ length: 100_000 }, () => newMediaId());

test('ids have the right format, and 100,000 of them are unique', () => {
  expect(sample.every(isMediaId)).toBe(true);
  expect(new Set(sample).size).toBe(sample.length);
});

test('every position has every character of base62 with equal frequency', () => {
  const expected = sample.length / 62;
  for (let place = 0; place < 10; place += 1) {
    const counts = new Map<string, number>();
    for (const id of sample) counts.set(id.charAt(place), (counts.get(id.charAt(place)) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // Six standard deviations; bytes modulo 62 would favour eight characters by 20%.
    const tolerance = 6 * Math.sqrt(expected);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(tolerance);
  }
});

test.each(['', '0aZ9bY8cX', '0aZ9bY8cX70', '0aZ9bY8cX-', '0aZ9bY8cX7\n', '../../../..', 'ä123456789', '０aZ9bY8cX7'])(
  '%j is not a media id',
  (text) => {
    expect(isMediaId(text)).toBe(false);
  },
);

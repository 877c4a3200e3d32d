import { expect, test } from 'vitest';
import { boxContents, maxBoxes } from './iso-boxes.ts';

const box = (type: string) => Buffer.from(`\0\0\0\x08${type}`, 'latin1');

test('ignores boxes after the first few thousand', () => {
  const free = (count: number) => Buffer.alloc(8 * count, box('free'));
  const found = (count: number) => boxContents(Buffer.concat([free(count), box('trak')]), 'trak').length;
  expect([maxBoxes - 1, maxBoxes, 1_000_000].map(found)).toEqual([1, 0, 0]);
});

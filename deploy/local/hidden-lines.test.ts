import { expect, test } from 'vitest';
import { HiddenLines } from './hidden-lines.ts';

test('of the last five lines of a run, those that were not shown', () => {
  const lines = new HiddenLines();
  for (const text of ['a', 'b', 'c', '', 'd']) lines.add(text, false);
  for (const text of ['shown', 'shown too']) lines.add(text, true);
  expect(lines.take()).toEqual(['b', 'c', 'd']);
});

test('a run that ends like the one before has none, also at another time, until one ends otherwise', () => {
  const lines = new HiddenLines();
  const take = (text: string) => {
    lines.add(text, false);
    return lines.take();
  };
  const runs = ['12:00:01 full', '12:00:02 full', '12:00:03 broken', '12:00:04 full'];
  expect(runs.map(take)).toEqual([['12:00:01 full'], [], ['12:00:03 broken'], ['12:00:04 full']]);
});

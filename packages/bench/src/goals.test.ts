import { expect, test } from 'vitest';
import { Figures } from './figures.ts';
import { missedOf, verdictOf } from './goals.ts';

test.each([
  ['upload path / naive', '200 KB', [0.9, 5, 1], 'aim met'],
  ['upload path / naive', '200 KB', [1.2, 1.4], 'minimum met'],
  ['upload path / naive', '200 KB', [1.6], 'missed'],
  // More is better.
  ['pass-through / gateway', '3 MB', [0.7], 'aim met'],
  ['pass-through / gateway', '3 MB', [0.5], 'minimum met'],
  ['pass-through / gateway', '3 MB', [0.4], 'missed'],
  ['List calls per upload', '200 KB', [0.01], 'missed'],
  ['CPU of gateway', '200 KB', [1], undefined],
] as const)('%s at %s: the median of %j is %s', (name, variant, values, verdict) => {
  const figures = new Figures();
  for (const value of values) figures.add(name, { system: 'echodrop', variant, unit: '' }, value);
  expect(figures.all.map(verdictOf)).toEqual([verdict]);
});

test('only goals of the first checkout are missed', () => {
  const figures = new Figures();
  for (const system of ['echodrop', 'echodrop-2', 'naive'])
    for (const [variant, value] of [
      ['200 KB', 1.6],
      ['3 MB', 0.1],
    ] as const)
      figures.add('upload path / naive', { system, variant, unit: '' }, value);
  expect(missedOf(figures).map(({ system, variant }) => `${system} ${variant}`)).toEqual(['echodrop 200 KB']);
});

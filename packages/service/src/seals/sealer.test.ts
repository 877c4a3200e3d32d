import { expect, test } from 'vitest';
import { Secret } from '../secret.ts';
import { Sealer } from './sealer.ts';

const older = new Secret('an older secret!');
const newer = new Secret('a newer secret!!');
const place = ['verdict', 'a proof'];
const sealer = new Sealer([older], 'test');
const seal = sealer.seal(place, 'text');

test('a seal is valid for its text at its place', () => {
  expect(sealer.isValid(seal, place, 'text')).toBe(true);
  expect(sealer.unwrap(place, sealer.wrap(place, 'some text'))).toBe('some text');
});

test.each([
  ['another text', place, 'Text'],
  ['another place', ['verdict', 'another proof'], 'text'],
  ['the same place split differently', ['verdicta', ' proof'], 'text'],
  ['a place that continues in the text', ['verdict'], ',"a proof"]text'],
])('a seal is invalid for %s', (_, elsewhere, text) => {
  expect(sealer.isValid(seal, elsewhere, text)).toBe(false);
});

test.each([undefined, null, 1, '', '.', seal.slice(0, -2), `${seal}.${seal}.${seal}`, seal.toLowerCase()])(
  'refuses %j as a seal',
  (given) => {
    expect(sealer.isValid(given, place, 'text')).toBe(false);
  },
);

test.each(['', 'text', ' text', '{"outcome":"verified"}'])('refuses %j as wrapped text', (wrapped) => {
  expect(sealer.unwrap(place, wrapped)).toBeUndefined();
});

test('a seal with another secret or purpose is invalid', () => {
  expect(new Sealer([newer], 'test').isValid(seal, place, 'text')).toBe(false);
  expect(new Sealer([older], 'another').isValid(seal, place, 'text')).toBe(false);
});

test.each([
  [[older], [newer, older]],
  [[newer, older], [older]],
  [[older, newer], [newer]],
  [[newer], [older, newer]],
] as const)('during a rotation, seals fit in all processes that share a secret', (writes, reads) => {
  const written = new Sealer(writes, 'test').seal(place, 'text');
  expect(new Sealer(reads, 'test').isValid(written, place, 'text')).toBe(true);
});

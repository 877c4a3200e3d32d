import { expect, test } from 'vitest';
import { faultOptions, splitArguments } from './run-options.ts';

test('our arguments go into the environment, all others to Vitest', () => {
  const args = ['--long', '--seed', '7', '--only=kill|freeze', '--reporter=json', '--outputFile.json=/tmp/a.json'];
  const { env, others } = splitArguments(args);
  expect(others).toEqual(['--reporter=json', '--outputFile.json=/tmp/a.json']);
  expect(faultOptions(env)).toMatchObject({ isLong: true, minutes: 60, seed: 7, only: /kill|freeze/ });
});

test('without arguments it is the short set, by a seed of its own', () => {
  const [one, other] = [faultOptions({}), faultOptions({})];
  expect(one).toMatchObject({ isLong: false, only: /(?:)/ });
  expect(one.seed).not.toBe(other.seed);
});

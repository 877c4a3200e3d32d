import { expect, test } from 'vitest';
import { faultOptions, splitArguments } from './run-options.ts';

test('passes own options in the environment, and others to Vitest', () => {
  const args = [
    '--long',
    '--seed',
    '7',
    '--only=kill|freeze',
    '--least-store',
    '--reporter=json',
    '--outputFile.json=/tmp/a.json',
  ];
  const { env, others } = splitArguments(args);
  expect(others).toEqual(['--reporter=json', '--outputFile.json=/tmp/a.json']);
  expect(faultOptions(env)).toMatchObject({
    isLong: true,
    minutes: 60,
    seed: 7,
    only: /kill|freeze/,
    hasLeastStore: true,
  });
});

test('--help is not passed to Vitest', () => {
  expect(splitArguments(['--help'])).toEqual({ env: {}, others: [], isHelp: true });
});

test('the default is the short set with a random seed', () => {
  const one = faultOptions({});
  const other = faultOptions({});
  expect(one).toMatchObject({ isLong: false, hasLeastStore: false, only: /(?:)/ });
  expect(one.seed).not.toBe(other.seed);
});

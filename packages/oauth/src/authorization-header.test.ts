import { expect, test } from 'vitest';
import { readAuthorization } from './authorization-header.ts';

test('accepts white space around every name and value', () => {
  expect([...(readAuthorization('oauth \t a = "1" ,, b= "%20"\t,') ?? [])]).toEqual([
    ['a', '1'],
    ['b', ' '],
  ]);
});

test.each(['OAuth a="b",', 'OAuth a="b"', 'OAuth a', 'OAuth a=', 'OAuth '])(
  '1 MB of white space after %s takes linear time (quadratic would take minutes)',
  (start) => {
    const began = process.cpuUsage();
    expect(readAuthorization(`${start}${' '.repeat(2 ** 20)}"`)).toBeUndefined();
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
  },
);

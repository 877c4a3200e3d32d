import { expect, test } from 'vitest';
import { tokenIn } from './proof.ts';

test('1 MB of white space in a token takes linear time (quadratic would take minutes)', () => {
  const token = `x${' '.repeat(2 ** 20)}x`;
  const began = process.threadCpuUsage();
  expect(tokenIn(`Bearer ${token}`)).toBe(token);
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(2000);
});

import { expect, test } from 'vitest';
import { randomHex } from './random-hex.ts';

test('values are unique, even across refills of the pool', () => {
  const ids = Array.from({ length: 2000 }, () => randomHex(16));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});

import { expect, test } from 'vitest';
import { PieceSizes } from './piece-sizes.ts';

const MiB = 2 ** 20;
const total = 100 * MiB;

function refused(status: number, reason = 'unknown', hasPassed = false) {
  const sizes = new PieceSizes();
  sizes.next(0, total);
  if (hasPassed) {
    sizes.pass();
    sizes.next(64 * MiB, total);
  }
  const outcome = sizes.refuse({ status, reason });
  return [outcome, sizes.next(hasPassed ? 64 * MiB : 0, total) / MiB];
}

test.each([
  // Only 413 says that the size is the reason.
  [413, ['smaller', 16]],
  [400, ['smaller', 1]],
  [403, ['smaller', 1]],
  // Nothing more is sent.
  [405, ['blocked', expect.anything()]],
  [501, ['blocked', expect.anything()]],
  [408, ['refused', 16]],
  [499, ['refused', 16]],
  [504, ['refused', 16]],
  [401, ['refused', 64]],
])('after %i of a proxy: %j', (status, expected) => {
  expect(refused(status)).toEqual(expected);
});

test.each([413, 403, 405, 503])('a refusal of the service, %i, says nothing about the size', (status) => {
  expect(refused(status, 'some_reason')).toEqual(['refused', 64]);
});

test('a proxy that passed a piece does not block all pieces', () => {
  expect(refused(405, undefined, true)).toEqual(['refused', 36]);
});

test('the smallest piece is refused once, then all pieces are blocked', () => {
  const sizes = new PieceSizes();
  expect([sizes.next(0, MiB), sizes.refuse({ status: 403, reason: 'unknown' })]).toEqual([MiB, 'blocked']);
  expect([sizes.next(0, MiB), sizes.refuse({ status: 413, reason: 'unknown' })]).toEqual([MiB, 'refused']);
});

import { expect, test } from 'vitest';
import { findSequenceHeader } from './sparse-copy.ts';

const rest = Buffer.alloc(20, 0x55);
const at = (...unit: readonly number[]) =>
  findSequenceHeader(Buffer.concat([rest, Buffer.from([0, 0, 1, ...unit]), rest]));

test.each([
  ['a sequence of MPEG-1 or MPEG-2', [0xb3, 0x14, 0, 0xf0]],
  ['parameters of H.264 for phones', [0x67, 0x42, 0xc0, 0x1f]],
  ['parameters of H.264 for television', [0x27, 0x64, 0, 0x28]],
  ['parameters of HEVC', [0x42, 1, 1, 1]],
])('finds %s', (_, unit) => {
  expect(at(...unit)).toBe(rest.length);
});

test.each([
  ['a slice of MPEG-2, of line 39 of a high picture', [0x27, 0x1a, 0x43, 0x10]],
  ['a picture of MPEG-2', [0, 0, 0x17, 0xff]],
  ['a slice of H.264', [0x41, 0x9a, 0x24, 0x6c]],
  ['a delimiter of H.264', [9, 0xf0]],
  ['a packet of sound', [0xc0, 1, 2, 3]],
])('ignores %s', (_, unit) => {
  expect(at(...unit)).toBe(-1);
});

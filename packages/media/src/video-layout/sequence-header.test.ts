import { expect, test } from 'vitest';
import { findSequenceHeader } from './sparse-copy.ts';

const rest = Buffer.alloc(20, 0x55);
const at = (...unit: readonly number[]) =>
  findSequenceHeader(Buffer.concat([rest, Buffer.from([0, 0, 1, ...unit]), rest]));

test.each([
  ['an MPEG-1 or MPEG-2 sequence', [0xb3, 0x14, 0, 0xf0]],
  ['H.264 parameters for phones', [0x67, 0x42, 0xc0, 0x1f]],
  ['H.264 parameters for television', [0x27, 0x64, 0, 0x28]],
  ['HEVC parameters', [0x42, 1, 1, 1]],
])('finds %s', (_, unit) => {
  expect(at(...unit)).toBe(rest.length);
});

test.each([
  ['an MPEG-2 slice in row 39 of a tall picture', [0x27, 0x1a, 0x43, 0x10]],
  ['an MPEG-2 picture', [0, 0, 0x17, 0xff]],
  ['an H.264 slice', [0x41, 0x9a, 0x24, 0x6c]],
  ['an H.264 delimiter', [9, 0xf0]],
  ['a sound packet', [0xc0, 1, 2, 3]],
])('ignores %s', (_, unit) => {
  expect(at(...unit)).toBe(-1);
});

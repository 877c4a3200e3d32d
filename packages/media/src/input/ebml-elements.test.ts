import { expect, test } from 'vitest';
import { elementsAt } from './ebml-elements.ts';

test('finds elements among the first few thousand of a level only', () => {
  // A Void element without content, and a CodecID of one byte.
  const empty = Buffer.from([0xec, 0x80]);
  const codec = Buffer.from([0x86, 0x81, 0x41]);
  const found = (before: number) => {
    const bytes = Buffer.concat([Buffer.alloc(before * empty.length, empty), codec]);
    return elementsAt(bytes, { content: 0, end: bytes.length }, 0x86).toArray().length;
  };
  expect([0, 4000, 5000, 4_000_000].map(found)).toEqual([1, 1, 0, 0]);
});

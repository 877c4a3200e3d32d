import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Checksum } from '../checksum.ts';
import { PartMemory } from '../part-memory.ts';
import { blockBytes, partBytes } from '../part-size.ts';
import { PartBuffer } from './part-buffer.ts';

const { signal } = new AbortController();
const hexOf = (bytes: Buffer) => crc32(bytes).toString(16).padStart(8, '0');

function bufferOf(reserved: number): PartBuffer {
  const holder = { sender: 'a', crowdOut() {} };
  return new PartBuffer(new PartMemory(4 * partBytes), holder, new Checksum(), reserved);
}

const content = (part: PartBuffer) => Buffer.concat([...part.bytes()]);

describe('bytes that come in before others', () => {
  test.each([
    [1, 1],
    [blockBytes, blockBytes],
    [3 * blockBytes + 5, 2 * blockBytes - 7],
    [partBytes - 1, 1],
    [partBytes, 0],
  ])('%i before %i', async (earlierSize, laterSize) => {
    const earlier = randomBytes(earlierSize);
    const later = randomBytes(laterSize);
    using part = bufferOf(earlierSize);
    await part.fill(later, signal);
    expect(part.isFull).toBe(earlierSize + laterSize === partBytes);
    const before = new Checksum();
    await part.fillBefore(before, async () => {
      await part.fill(earlier, signal);
      expect(part.checksumOfAll.hex).toBe(hexOf(earlier));
    });
    const joined = Buffer.concat([earlier, later]);
    expect(content(part).equals(joined)).toBe(true);
    expect([part.size, part.checksum.hex]).toEqual([joined.length, hexOf(joined)]);
    // Of what came in order, as before.
    expect(part.checksumOfAll.hex).toBe(hexOf(later));
  });

  test('if they do not come, the buffer is as it was, and takes more', async () => {
    const first = randomBytes(blockBytes + 3);
    const second = randomBytes(2 * blockBytes);
    using part = bufferOf(4 * blockBytes);
    await part.fill(first, signal);
    const failed = part.fillBefore(new Checksum(), async () => {
      await part.fill(randomBytes(3 * blockBytes), signal);
      throw new Error('gone');
    });
    await expect(failed).rejects.toThrow('gone');
    expect([content(part).equals(first), part.checksum.hex]).toEqual([true, hexOf(first)]);
    await part.fill(second, signal);
    const both = Buffer.concat([first, second]);
    expect([content(part).equals(both), part.checksumOfAll.hex]).toEqual([true, hexOf(both)]);
  });

  test('a part takes no more bytes than are not reserved', async () => {
    using part = bufferOf(partBytes - 10);
    expect(await part.fill(Buffer.alloc(11), signal)).toBe(10);
    expect(part.isFull).toBe(true);
    part.empty();
    expect(await part.fill(Buffer.alloc(partBytes + 1), signal)).toBe(partBytes);
  });
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { blockBytes, PartMemory, partBytes } from './part-memory.ts';
import { UploadPart } from './s3/upload-part.ts';

const signal = new AbortController().signal;

async function filled(memory: PartMemory, bytes: number, until = signal): Promise<UploadPart> {
  const part = new UploadPart(memory, () => {});
  await part.fill(Buffer.alloc(bytes, 1), until);
  return part;
}

test('a budget below one part is refused', () => {
  expect(() => new PartMemory(partBytes - 1)).toThrow(RangeError);
});

test('a part of a few bytes in many chunks holds one block', async () => {
  const memory = new PartMemory(2 * partBytes);
  const part = new UploadPart(memory, () => {});
  for (let chunk = 0; chunk < 1000; chunk += 1) await part.fill(Buffer.from('1234567'), signal);
  expect(part.size).toBe(7000);
  expect(memory.heldBytes).toBe(blockBytes);
  expect(Buffer.concat([...part.bytes()])).toEqual(Buffer.from('1234567'.repeat(1000)));
});

test('a part takes no more than fits and gives everything back when it is emptied', async () => {
  const memory = new PartMemory(partBytes);
  const part = new UploadPart(memory, () => {});
  expect(await part.fill(Buffer.alloc(partBytes + 9), signal)).toBe(partBytes);
  expect(part.full).toBe(true);
  expect(memory.heldBytes).toBe(partBytes);
  part.empty();
  expect([part.size, memory.heldBytes]).toEqual([0, 0]);
});

test('uploads that have all stopped in the middle of a part come to its end one after the other', async () => {
  const budget = 2 * partBytes;
  const memory = new PartMemory(budget);
  const parts = Array.from({ length: 40 }, () => new UploadPart(memory, () => {}));
  let most = 0;
  await Promise.all(
    parts.map(async (part) => {
      for (let half = 0; half < 8; half += 1) {
        await part.fill(Buffer.alloc(partBytes / 8), signal);
        most = Math.max(most, memory.heldBytes);
        await nextTurn();
      }
      part.empty();
    }),
  );
  expect(most).toBeLessThanOrEqual(budget);
  expect(most).toBeGreaterThan(partBytes);
  expect(memory.heldBytes).toBe(0);
});

test('who waits gets blocks that come free although every lane is taken', async () => {
  const memory = new PartMemory(2 * partBytes);
  const general = await filled(memory, partBytes);
  const lane = await filled(memory, blockBytes);
  const waiting = filled(memory, blockBytes);
  await nextTurn();
  expect(memory.waiting).toBe(1);
  general.empty();
  expect((await waiting).size).toBe(blockBytes);
  lane.empty();
});

test('first come, first served, and a newcomer does not overtake', async () => {
  const memory = new PartMemory(partBytes);
  const holder = await filled(memory, 1);
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (number) => {
    using part = await filled(memory, 1);
    order.push(number * part.size);
  });
  await nextTurn();
  holder.empty();
  waiting.push(filled(memory, 1).then((part) => void order.push(4 * part.size)));
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3, 4]);
});

test('who stops waiting leaves the queue and takes nothing', async () => {
  const memory = new PartMemory(partBytes);
  const holder = await filled(memory, 1);
  const abort = new AbortController();
  const given = filled(memory, 1, abort.signal);
  const next = filled(memory, 1);
  await nextTurn();
  abort.abort(new Error('gone'));
  await expect(given).rejects.toThrow('gone');
  expect(memory.waiting).toBe(1);
  holder.empty();
  expect((await next).size).toBe(1);
  await expect(filled(memory, 1, abort.signal)).rejects.toThrow('gone');
});

test('while others wait, who takes too long over a part is crowded out, the oldest first, and nobody while none waits', async () => {
  const memory = new PartMemory(partBytes, 50);
  const crowdedOut: string[] = [];
  const slow = new UploadPart(memory, () => crowdedOut.push('slow'));
  const slower = new UploadPart(memory, () => crowdedOut.push('slower'));
  await slow.fill(Buffer.alloc(1), signal);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(crowdedOut).toEqual([]);
  const waiting = slower.fill(Buffer.alloc(1), signal);
  await expect.poll(() => crowdedOut).toEqual(['slow']);
  slow.empty();
  await waiting;
  expect(crowdedOut).toEqual(['slow']);
});

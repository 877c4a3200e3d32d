import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { blockBytes, PartMemory, partBytes } from './part-memory.ts';
import { PartBuffer } from './s3/part-buffer.ts';

const signal = new AbortController().signal;

async function filled(memory: PartMemory, bytes: number, until = signal): Promise<PartBuffer> {
  const part = new PartBuffer(memory, () => {});
  await part.fill(Buffer.alloc(bytes, 1), until);
  return part;
}

test('rejects a budget below one part', () => {
  expect(() => new PartMemory(partBytes - 1)).toThrow(RangeError);
});

test('many small chunks share one block', async () => {
  const memory = new PartMemory(2 * partBytes);
  const part = new PartBuffer(memory, () => {});
  for (let chunk = 0; chunk < 1000; chunk += 1) await part.fill(Buffer.from('1234567'), signal);
  expect(part.size).toBe(7000);
  expect(memory.heldBytes).toBe(blockBytes);
  expect(Buffer.concat([...part.bytes()])).toEqual(Buffer.from('1234567'.repeat(1000)));
});

test('a part takes no more than fits and releases everything when emptied', async () => {
  const memory = new PartMemory(partBytes);
  const part = new PartBuffer(memory, () => {});
  expect(await part.fill(Buffer.alloc(partBytes + 9), signal)).toBe(partBytes);
  expect(part.isFull).toBe(true);
  expect(memory.heldBytes).toBe(partBytes);
  part.empty();
  expect([part.size, memory.heldBytes]).toEqual([0, 0]);
});

test('frees used body chunks after 8 MiB of new blocks and after each full part, but not if a small upload reuses blocks', async () => {
  const gc = vi.fn();
  vi.stubGlobal('gc', gc);
  const memory = new PartMemory(4 * partBytes);
  const full = await filled(memory, partBytes);
  expect(gc).toHaveBeenCalledExactlyOnceWith({ type: 'minor' });
  full.empty();
  expect(gc).toHaveBeenCalledTimes(2);
  for (let upload = 0; upload < 100; upload += 1) (await filled(memory, 2 * blockBytes)).empty();
  expect(gc).toHaveBeenCalledTimes(2);
});

test('releases the memory of a burst within two minutes, even without further uploads', async () => {
  vi.useFakeTimers();
  const gc = vi.fn();
  vi.stubGlobal('gc', gc);
  const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow');
  const memory = new PartMemory(4 * partBytes);
  (await filled(memory, partBytes)).empty();
  (await filled(memory, partBytes)).empty();
  expect(allocate).toHaveBeenCalledTimes(64);
  vi.advanceTimersByTime(120_000);
  expect(gc).toHaveBeenLastCalledWith({ type: 'major' });
  (await filled(memory, partBytes)).empty();
  expect(allocate).toHaveBeenCalledTimes(128);
});

test('uploads that all wait within a part complete it one after another', async () => {
  const budget = 2 * partBytes;
  const memory = new PartMemory(budget);
  const parts = Array.from({ length: 40 }, () => new PartBuffer(memory, () => {}));
  let peak = 0;
  await Promise.all(
    parts.map(async (part) => {
      for (let half = 0; half < 8; half += 1) {
        await part.fill(Buffer.alloc(partBytes / 8), signal);
        peak = Math.max(peak, memory.heldBytes);
        await nextTurn();
      }
      part.empty();
    }),
  );
  expect(peak).toBeLessThanOrEqual(budget);
  expect(peak).toBeGreaterThan(partBytes);
  expect(memory.heldBytes).toBe(0);
});

test('a waiting upload gets freed blocks even if every lane is taken', async () => {
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

test('memory is granted in order of arrival', async () => {
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

test('an aborted wait leaves the queue and takes nothing', async () => {
  const memory = new PartMemory(partBytes);
  const holder = await filled(memory, 1);
  const abort = new AbortController();
  const aborted = filled(memory, 1, abort.signal);
  const next = filled(memory, 1);
  await nextTurn();
  abort.abort(new Error('gone'));
  await expect(aborted).rejects.toThrow('gone');
  expect(memory.waiting).toBe(1);
  holder.empty();
  expect((await next).size).toBe(1);
  await expect(filled(memory, 1, abort.signal)).rejects.toThrow('gone');
});

test('crowds out slow uploads, oldest first, and only while others wait', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(partBytes, 50);
  const crowdedOut: string[] = [];
  const slow = new PartBuffer(memory, () => crowdedOut.push('slow'));
  const slower = new PartBuffer(memory, () => crowdedOut.push('slower'));
  await slow.fill(Buffer.alloc(1), signal);
  await vi.advanceTimersByTimeAsync(60);
  expect(crowdedOut).toEqual([]);
  const waiting = slower.fill(Buffer.alloc(1), signal);
  await vi.advanceTimersByTimeAsync(1);
  expect(crowdedOut).toEqual(['slow']);
  slow.empty();
  await waiting;
  await vi.advanceTimersByTimeAsync(60);
  expect(crowdedOut).toEqual(['slow']);
});

import { randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { ByteQueue } from './byte-queue.ts';

function drained(held: ByteQueue): Buffer[] {
  const pieces = [];
  for (let next = held.shift(); next; next = held.shift()) pieces.push(next);
  return pieces;
}

test.each([1, 100, 5000, 70_000])('returns pieces of up to %i bytes in order, even while more are pushed', (most) => {
  const held = new ByteQueue();
  const sent = [];
  const taken = [];
  for (let i = 0; i < 200; i += 1) {
    const piece = randomBytes(randomInt(1, most + 1));
    sent.push(piece);
    held.push(piece);
    const next = i % 3 === 0 && held.shift();
    if (next) taken.push(next);
  }
  const rest = held.length;
  const last = Buffer.concat(drained(held));
  expect(Buffer.concat([...taken, last]).equals(Buffer.concat(sent))).toBe(true);
  expect([rest, held.length]).toEqual([last.length, 0]);
});

test('single bytes are kept together in blocks of 16 KiB', () => {
  const held = new ByteQueue();
  for (let i = 0; i < 64 * 1024; i += 1) held.push(Buffer.from([i % 256]));
  expect(drained(held).map(({ length }) => length)).toEqual(Array(4).fill(16 * 1024));
});

test('a single byte between large pieces does not allocate a block', () => {
  const held = new ByteQueue();
  for (let i = 0; i < 10; i += 1) {
    held.push(Buffer.from([i]));
    held.push(Buffer.alloc(4096));
  }
  const blocks = new Set(
    drained(held)
      .filter(({ length }) => length === 1)
      .map(({ buffer }) => buffer),
  );
  expect(blocks.size).toBe(1);
});

test('a cleared queue is empty, and can be used again', () => {
  const held = new ByteQueue();
  held.push(Buffer.from('one'));
  held.clear();
  held.push(Buffer.from('two'));
  expect(Buffer.concat(drained(held)).toString()).toBe('two');
});

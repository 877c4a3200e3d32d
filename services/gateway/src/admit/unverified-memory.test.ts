import { expect, test } from 'vitest';
import { type MemoryShare, UnverifiedMemory } from './unverified-memory.ts';

/** An upload from a network that releases its memory if it is crowded out. */
function uploadOf(memory: UnverifiedMemory, network: string, bytes = 0) {
  const upload = { share: undefined as unknown as MemoryShare, reason: undefined as string | undefined };
  upload.share = memory.open(network, ({ reason }) => {
    upload.reason = reason;
    upload.share[Symbol.dispose]();
  });
  upload.share.take(bytes);
  return upload;
}

const aboveShare = expect.objectContaining({ reason: 'too_many_requests', retryAfterSeconds: 5 });

test('one upload may hold all of the memory, but no more', () => {
  const { share } = uploadOf(new UnverifiedMemory(100), 'one', 100);
  expect(() => share.take(1)).toThrow(expect.objectContaining({ reason: 'media_too_large' }));
});

test('the uploads of one network together may hold all of the memory, but no more', () => {
  const memory = new UnverifiedMemory(100);
  uploadOf(memory, 'one', 60);
  const second = uploadOf(memory, 'one', 40);
  expect(() => second.share.take(1)).toThrow(aboveShare);
  expect(memory.heldBytes).toBe(100);
});

test('a second network gets half: the largest uploads of the network that holds most are crowded out', () => {
  const memory = new UnverifiedMemory(100);
  const small = uploadOf(memory, 'one', 30);
  const large = uploadOf(memory, 'one', 70);
  const other = uploadOf(memory, 'other', 50);
  expect([small.reason, large.reason, other.reason]).toEqual([undefined, 'too_many_requests', undefined]);
  expect(memory.heldBytes).toBe(80);
});

test('a network does not crowd out another that does not hold more', () => {
  const memory = new UnverifiedMemory(100);
  const one = uploadOf(memory, 'one', 50);
  const other = uploadOf(memory, 'other', 50);
  expect(() => other.share.take(1)).toThrow(aboveShare);
  expect(one.reason).toBe(undefined);
});

test('the upload of a verified caller is not crowded out, and its bytes count until they are returned', () => {
  const memory = new UnverifiedMemory(100);
  const verified = uploadOf(memory, 'one', 90);
  verified.share.markVerified();
  expect(() => uploadOf(memory, 'other', 11)).toThrow(expect.objectContaining({ reason: 'overloaded' }));
  verified.share.giveBack(1);
  uploadOf(memory, 'other', 11);
  expect(verified.reason).toBe(undefined);
});

test('an upload returns its memory when it ends', () => {
  const memory = new UnverifiedMemory(100);
  const { share } = uploadOf(memory, 'one', 100);
  share.giveBack(40);
  share[Symbol.dispose]();
  expect(memory.heldBytes).toBe(0);
});

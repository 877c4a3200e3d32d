import { expect, test } from 'vitest';
import { SharedSlots } from './shared-slots.ts';

/** Takes slots of a sender until it gets no more. */
function takeAll(slots: SharedSlots, sender: string, most?: number) {
  const taken = [];
  for (let slot = slots.acquire(sender, most); slot; slot = slots.acquire(sender, most)) taken.push(slot);
  return taken;
}

test('each sender gets half of the slots that the earlier ones left', () => {
  const slots = new SharedSlots(1000);
  const taken = Array.from({ length: 6 }, (_, n) => takeAll(slots, `${n}`).length);
  expect(taken).toEqual([501, 250, 125, 63, 31, 16]);
});

test('a sender that holds much gets no further slot while others need them', () => {
  const slots = new SharedSlots(100);
  const [first] = takeAll(slots, 'a');
  takeAll(slots, 'b', 10);
  first?.[Symbol.dispose]();
  expect(slots.acquire('a')).toBe(undefined);
  expect(slots.acquire('c')).toBeDefined();
});

test('one sender may hold both of two slots', () => {
  expect(takeAll(new SharedSlots(2), 'a')).toHaveLength(2);
});

test('a sender holds at most as many as allowed, until one is released', () => {
  const slots = new SharedSlots(10);
  const [first] = takeAll(slots, 'a', 3);
  expect(takeAll(slots, 'a', 3)).toEqual([]);
  for (let n = 0; n < 2; n += 1) first?.[Symbol.dispose]();
  expect(takeAll(slots, 'a', 3)).toHaveLength(1);
});

test('a slot that moves counts for its new sender only, if that may take one', () => {
  const slots = new SharedSlots(10);
  const [first, second] = takeAll(slots, 'a', 2);
  expect(first?.moveTo('b', 1)).toBe(true);
  expect(second?.moveTo('b', 1)).toBe(false);
  expect(takeAll(slots, 'a', 2)).toHaveLength(1);
  first?.[Symbol.dispose]();
  expect([slots.holds('a'), slots.holds('b')]).toEqual([true, false]);
  expect(second?.moveTo('b', 1)).toBe(true);
});

test('a released slot cannot move', () => {
  const slots = new SharedSlots(1);
  const [slot] = takeAll(slots, 'a');
  slot?.[Symbol.dispose]();
  expect(() => slot?.moveTo('b', 1)).toThrow(ReferenceError);
  expect(takeAll(slots, 'c')).toHaveLength(1);
});

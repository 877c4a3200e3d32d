import { beforeEach, expect, test, vi } from 'vitest';
import { type Slot, type SlotLimit, Slots, type Standing } from './slots.ts';

let refused: SlotLimit[];
beforeEach(() => {
  refused = [];
});

function slotsWith(limits: { slots?: number; anonymousPerAddress?: number; failuresPerMinutePerAddress?: number }) {
  const { slots = 100, anonymousPerAddress = 100, failuresPerMinutePerAddress = 0 } = limits;
  return new Slots({ slots, anonymousPerAddress, failuresPerMinutePerAddress }, (limit) => refused.push(limit));
}

function acquireMany(slots: Slots, count: number, address = '192.0.2.1', standing: Standing = 'anonymous'): Slot[] {
  return Array.from({ length: count }, () => slots.acquire(address, standing));
}

const tooMany = expect.objectContaining({ reason: 'too_many_requests', retryAfterSeconds: 5 });
const overloaded = expect.objectContaining({ reason: 'overloaded', retryAfterSeconds: 5 });

test.each([
  ['the same IPv4 address', '192.0.2.1', '192.0.2.1', tooMany],
  ['the same IPv6 /64', '2001:db8::1', '2001:db8::2:3:4:5', tooMany],
  ['an unknown address', '', '', tooMany],
])('anonymous requests from %s are limited', (_what, one, same, refusal) => {
  const slots = slotsWith({ anonymousPerAddress: 2 });
  acquireMany(slots, 2, one);
  expect(() => slots.acquire(same, 'anonymous')).toThrow(refusal);
  expect(refused).toEqual(['address_anonymous']);
});

test.each([
  ['192.0.2.1', '192.0.2.2'],
  ['2001:db8::1', '2001:db8:0:1::1'],
  ['', '192.0.2.1'],
])('anonymous requests of %j do not count against %j', (one, other) => {
  const slots = slotsWith({ anonymousPerAddress: 2 });
  acquireMany(slots, 2, one);
  acquireMany(slots, 2, other);
});

test('a verified or finished request no longer counts as anonymous', () => {
  const slots = slotsWith({ anonymousPerAddress: 2 });
  const [first, second] = acquireMany(slots, 2);
  first?.markVerified();
  second?.[Symbol.dispose]();
  acquireMany(slots, 2);
  expect(() => slots.acquire('192.0.2.1', 'anonymous')).toThrow(tooMany);
  acquireMany(slots, 1, '192.0.2.1', 'unverified');
});

test('anonymous requests of many addresses leave slots for requests that are not anonymous', () => {
  const slots = slotsWith({ slots: 16 });
  for (let host = 1; host <= 6; host += 1) slots.acquire(`192.0.2.${host}`, 'anonymous');
  expect(() => slots.acquire('192.0.2.9', 'anonymous')).toThrow(overloaded);
  acquireMany(slots, 6, '192.0.2.9', 'unverified');
  expect(refused).toEqual(['anonymous']);
});

test('one address cannot take all slots for unverified requests, even if not anonymous', () => {
  const slots = slotsWith({ slots: 16 });
  acquireMany(slots, 9, '192.0.2.1', 'unverified');
  expect(() => slots.acquire('192.0.2.1', 'unverified')).toThrow(tooMany);
  acquireMany(slots, 3, '192.0.2.2');
  expect(refused).toEqual(['address_unverified']);
});

test('a quarter of the slots is reserved for verified requests', () => {
  const slots = slotsWith({ slots: 8 });
  const all = [...acquireMany(slots, 3), ...acquireMany(slots, 3, '192.0.2.2', 'unverified')];
  expect(() => slots.acquire('192.0.2.3', 'unverified')).toThrow(overloaded);
  for (const slot of all.slice(0, 2)) slot.markVerified();
  acquireMany(slots, 2, '192.0.2.3');
  expect(() => slots.acquire('192.0.2.4', 'unverified')).toThrow(overloaded);
  expect(refused).toEqual(['unverified', 'slots']);
});

test('verified requests of one address may use every slot', () => {
  const slots = slotsWith({ slots: 8, anonymousPerAddress: 1 });
  for (let taken = 0; taken < 8; taken += 1) slots.acquire('192.0.2.1', 'anonymous').markVerified();
  expect(() => slots.acquire('192.0.2.1', 'anonymous')).toThrow(overloaded);
});

test('an address whose requests keep failing verification is refused for the rest of a minute', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const slots = slotsWith({ failuresPerMinutePerAddress: 2 });
  for (const slot of acquireMany(slots, 2)) slot[Symbol.dispose]();
  vi.advanceTimersByTime(20_000);
  expect(() => slots.acquire('192.0.2.1', 'anonymous')).toThrow(
    expect.objectContaining({ reason: 'too_many_requests', retryAfterSeconds: 40 }),
  );
  slots.acquire('192.0.2.2', 'anonymous')[Symbol.dispose]();
  vi.advanceTimersByTime(40_000);
  slots.acquire('192.0.2.1', 'anonymous');
  expect(refused).toEqual(['address_rate']);
});

test('verified requests do not count as failures', () => {
  const slots = slotsWith({ failuresPerMinutePerAddress: 1 });
  for (const slot of acquireMany(slots, 5)) {
    slot.markVerified();
    slot[Symbol.dispose]();
  }
  slots.acquire('192.0.2.1', 'anonymous');
});

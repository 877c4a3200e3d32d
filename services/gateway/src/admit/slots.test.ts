import { beforeEach, expect, test, vi } from 'vitest';
import { type Slot, type SlotLimit, type SlotLimits, Slots, type Standing } from './slots.ts';

let refused: SlotLimit[];
beforeEach(() => {
  refused = [];
});

const generous = { slots: 100, perUser: 100, anonymousPerAddress: 100, failuresPerMinutePerAddress: 1000 };

function slotsWith(limits: Partial<SlotLimits>) {
  return new Slots({ ...generous, ...limits }, (limit) => refused.push(limit));
}

/** Takes slots until a refusal. */
function acquireAll(slots: Slots, address: string, standing: Standing = 'unverified'): Slot[] {
  const taken: Slot[] = [];
  expect(() => {
    while (true) taken.push(slots.acquire(address, standing));
  }).toThrow(tooMany);
  return taken;
}

function acquireMany(slots: Slots, count: number, address = '192.0.2.1', standing: Standing = 'anonymous'): Slot[] {
  return Array.from({ length: count }, () => slots.acquire(address, standing));
}

const tooMany = expect.objectContaining({ reason: 'too_many_requests', retryAfterSeconds: 5 });
const overloaded = expect.objectContaining({ reason: 'overloaded', retryAfterSeconds: 5 });

test.each([
  ['the same IPv4 address', '192.0.2.1', '192.0.2.1', tooMany],
  ['the same IPv6 /56', '2001:db8::1', '2001:db8:0:ff:2:3:4:5', tooMany],
  ['an unknown address', '', '', tooMany],
])('anonymous requests from %s are limited', (_what, one, same, refusal) => {
  const slots = slotsWith({ anonymousPerAddress: 2 });
  acquireMany(slots, 2, one);
  expect(() => slots.acquire(same, 'anonymous')).toThrow(refusal);
  expect(refused).toEqual(['address_anonymous']);
});

test.each([
  ['192.0.2.1', '192.0.2.2'],
  ['2001:db8::1', '2001:db8:0:100::1'],
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
  for (let host = 1; host <= 8; host += 1) slots.acquire(`192.0.2.${host}`, 'anonymous');
  expect(() => slots.acquire('192.0.2.9', 'anonymous')).toThrow(overloaded);
  acquireMany(slots, 5, '192.0.2.9', 'unverified');
  expect(refused).toEqual(['anonymous']);
});

test.each([
  ['anonymous', 14],
  ['unverified', 30],
] as const)('%s requests of five addresses leave slots for other addresses', (standing, left) => {
  const slots = slotsWith({ slots: 1000, anonymousPerAddress: 1000 });
  for (let host = 1; host <= 5; host += 1) acquireAll(slots, `192.0.2.${host}`, standing);
  for (let host = 1; host <= left; host += 1) slots.acquire(`198.51.100.${host}`, standing);
  expect(new Set(refused)).toEqual(new Set([`address_${standing}`]));
  expect(() => slots.acquire('203.0.113.1', standing)).toThrow(overloaded);
});

test('one address gets half of the slots', () => {
  expect(acquireAll(slotsWith({ slots: 1000 }), '192.0.2.1')).toHaveLength(501);
});

test('if no slot is left, an address that has some is above its share, and another one is not', () => {
  const slots = slotsWith({ slots: 2 });
  acquireMany(slots, 2, '192.0.2.1', 'unverified');
  expect(() => slots.acquire('192.0.2.1', 'unverified')).toThrow(tooMany);
  expect(() => slots.acquire('192.0.2.2', 'unverified')).toThrow(overloaded);
  expect(refused).toEqual(['address_unverified', 'slots']);
});

test('slow uploads of ten users leave slots for others', () => {
  const slots = slotsWith({ slots: 1000 });
  const upload = (user: number, address: string) => {
    using held = new DisposableStack();
    held.use(slots.acquire(address, 'unverified')).moveToUser(`${user}`);
    held.move();
  };
  for (let user = 1; user <= 10; user += 1)
    expect(() => {
      while (true) upload(user, '192.0.2.1');
    }).toThrow(tooMany);
  for (let user = 11; user <= 59; user += 1) upload(user, '192.0.2.2');
  expect(() => slots.acquire('192.0.2.3', 'unverified')).toThrow(overloaded);
});

test('verified users of one address may use every slot', () => {
  const slots = slotsWith({ slots: 8, anonymousPerAddress: 1 });
  for (let user = 1; user <= 8; user += 1) {
    const slot = slots.acquire('192.0.2.1', 'anonymous');
    slot.moveToUser(`${user}`);
    slot.markVerified();
  }
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

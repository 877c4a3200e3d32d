import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { PartHolder } from './crowd-out.ts';
import { PartMemory } from './part-memory.ts';
import { blockBytes, partBytes } from './part-size.ts';
import { PartBuffer } from './s3/part-buffer.ts';

const signal = new AbortController().signal;

/** A part of a sender; `crowdedOut` is called like its upload's end. */
function partOf(memory: PartMemory, sender: string, crowdedOut: PartHolder['crowdOut'] = () => {}): PartBuffer {
  return new PartBuffer(memory, { sender, crowdOut: crowdedOut });
}

let senders = 0;

async function filled(memory: PartMemory, bytes: number, until = signal): Promise<PartBuffer> {
  senders += 1;
  const part = partOf(memory, `sender ${senders}`);
  await part.fill(Buffer.alloc(bytes, 1), until);
  return part;
}

test('rejects a budget below one part', () => {
  expect(() => new PartMemory(partBytes - 1)).toThrow(RangeError);
});

test('many small chunks share one block', async () => {
  const memory = new PartMemory(2 * partBytes);
  const part = partOf(memory, 'mia');
  for (let chunk = 0; chunk < 1000; chunk += 1) await part.fill(Buffer.from('1234567'), signal);
  expect(part.size).toBe(7000);
  expect(memory.heldBytes).toBe(blockBytes);
  expect(Buffer.concat([...part.bytes()])).toEqual(Buffer.from('1234567'.repeat(1000)));
});

test('a part takes no more than fits and releases everything when emptied', async () => {
  const memory = new PartMemory(partBytes);
  const part = partOf(memory, 'mia');
  expect(await part.fill(Buffer.alloc(partBytes + 9), signal)).toBe(partBytes);
  expect(part.isFull).toBe(true);
  expect(memory.heldBytes).toBe(partBytes);
  part.empty();
  expect([part.size, memory.heldBytes]).toEqual([0, 0]);
});

test('frees the memory of a burst within two minutes, even without further uploads', async () => {
  vi.useFakeTimers();
  const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow');
  const memory = new PartMemory(4 * partBytes);
  (await filled(memory, partBytes)).empty();
  (await filled(memory, partBytes)).empty();
  const blocks = allocate.mock.results.map(({ value }) => value as Buffer);
  expect(blocks.map(({ length }) => length)).toEqual(Array(64).fill(blockBytes));
  vi.advanceTimersByTime(120_000);
  expect(blocks.map(({ length }) => length)).toEqual(Array(64).fill(0));
});

test.each([
  ['reuses', 'not read', false, 64],
  ['does not reuse', 'read', true, 128],
])('%s the memory of a failed upload that no request has %s', async (_reuses, _read, isRead, allocated) => {
  const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow');
  const memory = new PartMemory(4 * partBytes);
  const part = await filled(memory, partBytes);
  if (isRead) for (const _ of part.bytes()) break;
  part.empty({ hasFailed: true });
  await filled(memory, partBytes);
  expect(allocate).toHaveBeenCalledTimes(allocated);
});

test('uploads that all wait within a part complete it one after another', async () => {
  const budget = 2 * partBytes;
  const memory = new PartMemory(budget);
  const parts = Array.from({ length: 40 }, (_, n) => partOf(memory, `sender ${n}`));
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

test('crowds out uploads that fill a part for too long, oldest first, and only while others wait', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(partBytes, 50);
  const crowdedOut: string[] = [];
  const slow = partOf(memory, 'mia', () => void crowdedOut.push('slow'));
  const slower = partOf(memory, 'noa', () => void crowdedOut.push('slower'));
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

interface Sending {
  readonly sender: string;
  readonly bytesPerSecond: number;
  /** Bytes that come at once, before the others. */
  readonly burst?: number;
  readonly bytes?: number;
}

/** Sends the bytes of an upload in pieces of a quarter of a second, part after part. It ends when all are sent, or it is crowded out. */
function sendSlowly(
  memory: PartMemory,
  { sender, bytesPerSecond, burst = 0, bytes = Number.POSITIVE_INFINITY }: Sending,
) {
  const stop = new AbortController();
  const part = partOf(memory, sender, () => stop.abort(new Error('crowded out')));
  let sent = 0;
  const send = async (count: number) => {
    for (let rest = Math.min(count, bytes - sent); rest > 0; ) {
      const taken = await part.fill(Buffer.alloc(Math.min(rest, blockBytes)), stop.signal);
      rest -= taken;
      sent += taken;
      if (part.isFull) part.empty();
    }
  };
  const run = async () => {
    await send(burst);
    while (sent < bytes && !stop.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      if (!stop.signal.aborted) await send(Math.ceil(bytesPerSecond / 4));
    }
  };
  const upload = {
    outcome: 'running',
    stop: () => stop.abort(new Error('stopped')),
    done: run()
      .then(() => stop.signal.throwIfAborted())
      .then(
        () => 'sent',
        ({ message }: Error) => message,
      )
      .then((outcome) => {
        part.empty();
        upload.outcome = outcome;
      }),
  };
  return upload;
}

const phone = 100_000;
const drip = 2500;

test('slow uploads of many accounts take no memory from others', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(4 * partBytes);
  const running = sendSlowly(memory, { sender: 'phone', bytesPerSecond: phone });
  await vi.advanceTimersByTimeAsync(1000);
  const attackers = Array.from({ length: 40 }, (_, n) =>
    sendSlowly(memory, { sender: `attacker ${n % 10}`, bytesPerSecond: drip, burst: 2 ** 20 }),
  );
  await vi.advanceTimersByTimeAsync(9000);
  expect(memory.waiting).toBeGreaterThan(0);
  const photos: ReturnType<typeof sendSlowly>[] = [];
  for (let n = 0; n < 10; n += 1) {
    photos.push(sendSlowly(memory, { sender: `user ${n}`, bytesPerSecond: phone, burst: 11_000, bytes: 11_000 }));
    await vi.advanceTimersByTimeAsync(1000);
  }
  await vi.advanceTimersByTimeAsync(9000);
  expect(photos.map(({ outcome }) => outcome)).toEqual(Array(10).fill('sent'));
  const large = sendSlowly(memory, { sender: 'user', bytesPerSecond: 2 ** 20, bytes: 3 * 2 ** 20 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect([large.outcome, running.outcome]).toEqual(['sent', 'running']);
  for (const { stop } of [running, ...attackers]) stop();
});

test('slow uploads go on while no other waits than their own, or such as are as slow', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(3 * partBytes);
  const burst = partBytes / 2 - 10 * drip;
  const uploads = [1, 2, 3, 4].map((n) => sendSlowly(memory, { sender: `slow ${n}`, bytesPerSecond: drip, burst }));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(memory.waiting).toBe(3);
  await vi.advanceTimersByTimeAsync(30_000);
  for (const { stop } of uploads.slice(1)) stop();
  const [first] = uploads;
  const own = Array.from({ length: 3 }, () =>
    sendSlowly(memory, { sender: 'slow 1', bytesPerSecond: drip, burst: 2 * partBytes }),
  );
  await vi.advanceTimersByTimeAsync(30_000);
  expect([first?.outcome, memory.waiting]).toEqual(['running', 3]);
  for (const { stop } of [...uploads, ...own]) stop();
});

test('an upload whose part is being sent is not crowded out', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(partBytes);
  const crowdedOut = vi.fn();
  const part = partOf(memory, 'mia', crowdedOut);
  await part.fill(Buffer.alloc(partBytes), signal);
  const content = part.bytes();
  for (const _ of content) break;
  const waiting = partOf(memory, 'noa').fill(Buffer.alloc(1), signal);
  await vi.advanceTimersByTimeAsync(55_000);
  expect(crowdedOut).not.toHaveBeenCalled();
  part.empty();
  expect(await waiting).toBe(1);
});

const sending = fc.record({
  sender: fc.integer({ min: 1, max: 2 }).map((n) => `attacker ${n}`),
  bytesPerSecond: fc.integer({ min: 0, max: 15_000 }),
  burst: fc.integer({ min: 0, max: partBytes / 4 }),
  waitMs: fc.integer({ min: 0, max: 5000 }),
});

test('whatever slow uploads hold, the small one of another user has its memory within 40 seconds, and all is free at the end', async () => {
  vi.useFakeTimers();
  const holds = async (slow: (Sending & { readonly waitMs: number })[], parts: number) => {
    const memory = new PartMemory(parts * partBytes);
    const uploads: ReturnType<typeof sendSlowly>[] = [];
    for (const { waitMs, ...each } of slow) {
      uploads.push(sendSlowly(memory, each));
      await vi.advanceTimersByTimeAsync(waitMs);
      expect(memory.heldBytes).toBeLessThanOrEqual(parts * partBytes);
    }
    const photo = sendSlowly(memory, { sender: 'user', bytesPerSecond: phone, burst: 11_000, bytes: 11_000 });
    await vi.advanceTimersByTimeAsync(40_000);
    expect(photo.outcome).toBe('sent');
    for (const { stop } of uploads) stop();
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all(uploads.map(({ done }) => done));
    expect([memory.heldBytes, memory.waiting]).toEqual([0, 0]);
    for (let n = 0; n < parts; n += 1)
      expect(await partOf(memory, 'all').fill(Buffer.alloc(partBytes), signal)).toBe(partBytes);
    expect(memory.waiting).toBe(0);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(sending, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 3 }), holds),
    { numRuns: 30 },
  );
});

/** Almost fills parts of one sender, the last of four in the lane. `crowdedOut`: the numbers of those that are crowded out, and then emptied. */
async function hoard(memory: PartMemory, parts: number) {
  const crowdedOut: number[] = [];
  const all: PartBuffer[] = [];
  for (let n = 0; n < parts; n += 1) {
    const part = partOf(memory, 'hoarder', () => {
      crowdedOut.push(n);
      part.empty();
    });
    all.push(part);
    await part.fill(Buffer.alloc(partBytes - blockBytes), signal);
  }
  return { crowdedOut, all };
}

test('while another sender waits, uploads of the sender that holds most are crowded out after five seconds', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(4 * partBytes);
  const { crowdedOut } = await hoard(memory, 4);
  const waiting = partOf(memory, 'noa').fill(Buffer.alloc(blockBytes), signal);
  await vi.advanceTimersByTimeAsync(4900);
  expect(crowdedOut).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(crowdedOut).toEqual([0]);
  expect(await waiting).toBe(blockBytes);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(crowdedOut).toEqual([0]);
});

test.each([
  { senders: ['mia', 'mia', 'noa', 'ada'], expected: ['mia true', 'mia false', 'ada false'] },
  { senders: ['mia', 'noa', 'ada', 'eva'], expected: ['eva false', 'mia false'] },
])(
  'a sender is crowded out for its own share only if it has several uploads: $senders',
  async ({ senders, expected }) => {
    vi.useFakeTimers();
    const memory = new PartMemory(4 * partBytes, 1000);
    const reasons: string[] = [];
    const fill = (sender: string, bytes: number) => {
      const part = partOf(memory, sender, (reason) => {
        reasons.push(`${sender} ${reason.isOwnShare}`);
        part.empty();
      });
      return part.fill(Buffer.alloc(bytes), signal);
    };
    for (const sender of senders.slice(0, 3)) await fill(sender, partBytes - blockBytes);
    // The rest of the memory, and the lane.
    await fill(senders[3] ?? '', partBytes);
    const waiting = [fill('kim', partBytes), fill('lea', partBytes)];
    await vi.advanceTimersByTimeAsync(1200);
    await Promise.all(waiting);
    expect(reasons).toEqual(expected);
  },
);

test.each([
  ['mia', true],
  ['noa', false],
])(
  'an upload of mia that waits for its next block, while %s holds most of the memory, is above its share: %j',
  async (most, expected) => {
    vi.useFakeTimers();
    const memory = new PartMemory(2 * partBytes);
    const fill = (sender: string, blocks: number) =>
      partOf(memory, sender).fill(Buffer.alloc(blocks * blockBytes), signal);
    const waiting = partOf(memory, 'mia');
    await waiting.fill(Buffer.alloc(blockBytes), signal);
    await fill('mia', 10);
    await fill(most, partBytes / blockBytes - 11);
    // The lane.
    await fill(most, 1);
    const reason = Promise.resolve(waiting.fill(Buffer.alloc(1), signal)).catch((error) => error.isOwnShare);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await reason).toBe(expected);
  },
);

test('a sender without memory that waits for a minute is not above its share, and one alone is', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(partBytes);
  await partOf(memory, 'mia').fill(Buffer.alloc(1), signal);
  const outcomes = async (...senders: string[]) => {
    const all = senders.map((sender) => partOf(memory, sender).fill(Buffer.alloc(1), signal));
    const settled = Promise.allSettled(all);
    await vi.advanceTimersByTimeAsync(60_000);
    return (await settled).map((each) => each.status === 'rejected' && each.reason.isOwnShare);
  };
  expect(await outcomes('mia')).toEqual([true]);
  expect(await outcomes('noa')).toEqual([false]);
});

test('uploads are not crowded out after five seconds for their own sender', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(4 * partBytes);
  const { crowdedOut, all } = await hoard(memory, 4);
  const own = partOf(memory, 'hoarder').fill(Buffer.alloc(blockBytes), signal);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(crowdedOut).toEqual([]);
  for (const part of all) part.empty();
  await own;
});

test('uploads are not crowded out after five seconds for a sender that would then have more', async () => {
  vi.useFakeTimers();
  const memory = new PartMemory(4 * partBytes);
  const { crowdedOut } = await hoard(memory, 3);
  const noa = partOf(memory, 'noa');
  await noa.fill(Buffer.alloc(partBytes), signal);
  const waiting = partOf(memory, 'noa').fill(Buffer.alloc(1), signal);
  await vi.advanceTimersByTimeAsync(7000);
  expect([crowdedOut, memory.waiting]).toEqual([[], 1]);
  noa.empty();
  await waiting;
});

test('the waiting sender with the least memory comes first', async () => {
  const memory = new PartMemory(4 * partBytes);
  const { all } = await hoard(memory, 3);
  await partOf(memory, 'mia').fill(Buffer.alloc(3 * blockBytes), signal);
  await partOf(memory, 'hoarder').fill(Buffer.alloc(1), signal);
  const order: string[] = [];
  const waiting = ['hoarder', 'mia', 'noa', 'hoarder', 'noa'].map(async (sender) => {
    await partOf(memory, sender).fill(Buffer.alloc(blockBytes), signal);
    order.push(sender);
  });
  await nextTurn();
  expect(order).toEqual([]);
  all[0]?.empty();
  await Promise.all(waiting);
  expect(order).toEqual(['noa', 'noa', 'mia', 'hoarder', 'hoarder']);
});

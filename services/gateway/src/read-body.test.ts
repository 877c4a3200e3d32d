import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readBody } from './read-body.ts';
import { ClientGone, Refusal } from './refusals.ts';

const KiB = 1024;
const limits = { maxBytes: 10 * KiB * KiB, minBytesPerSecond: KiB, maxSeconds: 3600 };
const never = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('what is sent comes out, to its end', async () => {
  const request = new PassThrough();
  request.write('one ');
  request.end('two');
  const chunks = await Array.fromAsync(readBody(request, limits, { after: undefined, signal: never }));
  expect(Buffer.concat(chunks).toString()).toBe('one two');
});

test('beyond 256 KiB nothing comes before the verdict', async () => {
  const verdict = Promise.withResolvers<void>();
  const request = new PassThrough();
  const body = readBody(request, limits, { after: verdict.promise, signal: never });
  request.write(Buffer.alloc(256 * KiB));
  let read = 0;
  const reading = (async () => {
    for await (const chunk of body) read += chunk.length;
  })();
  await vi.waitFor(() => expect(read).toBe(256 * KiB));
  request.write(Buffer.alloc(1));
  await vi.waitFor(() => expect(request.readableLength).toBe(0));
  await vi.advanceTimersByTimeAsync(1_800_000);
  expect(read).toBe(256 * KiB);
  verdict.resolve();
  await vi.waitFor(() => expect(read).toBe(256 * KiB + 1));
  request.end();
  await reading;
});

test('a body longer than the limit is refused at the first byte too many', async () => {
  const request = new PassThrough();
  const body = readBody(request, { ...limits, maxBytes: 10 }, { after: undefined, signal: never });
  request.write(Buffer.alloc(10));
  expect((await body.next()).value).toHaveLength(10);
  request.write('x');
  await expect(body.next()).rejects.toEqual(new Refusal('media_too_large'));
});

test('nothing for 30 seconds is too slow', async () => {
  const next = expectTooSlow(new PassThrough());
  await vi.advanceTimersByTimeAsync(29_999);
  expect(next.settled).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await next.refused;
});

test.each([
  ['slower than 1 KiB/s is too slow', 1000, true],
  ['1 KiB/s is fast enough', 1024, false],
])('%s', async (_what, bytesPerSecond, refused) => {
  const request = new PassThrough();
  const body = readBody(request, limits, { after: undefined, signal: never });
  const seconds = Array.from({ length: 65 }, (_, i) => i);
  const reading = (async () => {
    for (const _ of seconds) {
      const next = body.next();
      await vi.advanceTimersByTimeAsync(1000);
      request.write(Buffer.alloc(bytesPerSecond));
      await next;
    }
  })();
  if (refused) await expect(reading).rejects.toEqual(new Refusal('too_slow'));
  else await reading;
});

test("time in which nobody reads is not the sender's slowness", async () => {
  const request = new PassThrough();
  const body = readBody(request, limits, { after: undefined, signal: never });
  for (let i = 0; i < 10; i++) {
    request.write(Buffer.alloc(10));
    await body.next();
    await vi.advanceTimersByTimeAsync(600_000 / 10 - 1);
  }
});

test('an upload that takes longer than allowed is too slow, however fast it comes', async () => {
  const request = new PassThrough();
  const body = readBody(request, { ...limits, maxSeconds: 10 }, { after: undefined, signal: never });
  request.write(Buffer.alloc(100));
  await body.next();
  await vi.advanceTimersByTimeAsync(9_000);
  const next = body.next();
  next.catch(() => {});
  await vi.advanceTimersByTimeAsync(1_001);
  await expect(next).rejects.toEqual(new Refusal('too_slow'));
});

test('a client that goes away, and a signal, end the reading; the request stays open for the answer', async () => {
  const gone = new PassThrough();
  const next = readBody(gone, limits, { after: undefined, signal: never }).next();
  gone.destroy(new Error('aborted'));
  await expect(next).rejects.toBeInstanceOf(ClientGone);

  const request = new PassThrough();
  const stop = new AbortController();
  const stopped = readBody(request, limits, { after: undefined, signal: stop.signal }).next();
  stop.abort(new Refusal('credentials_refused'));
  await expect(stopped).rejects.toEqual(new Refusal('credentials_refused'));
  expect(request.destroyed).toBe(false);
});

function expectTooSlow(request: PassThrough) {
  const next = readBody(request, limits, { after: undefined, signal: never }).next();
  const state = { settled: false, refused: expect(next).rejects.toEqual(new Refusal('too_slow')) };
  next.catch(() => {
    state.settled = true;
  });
  return state;
}

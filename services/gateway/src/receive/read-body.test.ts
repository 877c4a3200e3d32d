import { PassThrough } from 'node:stream';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { beforeEach, expect, test, vi } from 'vitest';
import { ClientGone, mediaTooLarge, Refusal } from '../response/refusal-error.ts';
import { readBody } from './read-body.ts';

const KiB = 1024;
const limits = {
  tooLarge: () => mediaTooLarge(0),
  maxBytes: 10 * KiB * KiB,
  maxUploadSeconds: 3600,
};

const tooSlow = 'The upload was too slow: no data for 30 seconds, or less than 1024 bytes per second.';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

/** Reads `request` and counts its bytes. */
function readAll(request: PassThrough, some: Partial<typeof limits> = {}, verdict?: Promise<unknown>) {
  const taken = { bytes: 0, isOver: false };
  const take = (chunk: Buffer) => {
    taken.bytes += chunk.length;
  };
  const body = readBody(request, { ...limits, ...some }, take, verdict);
  body.ended
    .finally(() => {
      taken.isOver = true;
    })
    .catch(() => {});
  return { body, taken };
}

test('a body is read to its end', async () => {
  const request = new PassThrough();
  request.write('one ');
  request.end('two');
  const { body, taken } = readAll(request);
  await body.ended;
  expect(taken.bytes).toBe('one two'.length);
});

test('reading pauses at 256 KiB until the verdict', async () => {
  const verdict = Promise.withResolvers<void>();
  const request = new PassThrough();
  const { body, taken } = readAll(request, {}, verdict.promise);
  request.write(Buffer.alloc(256 * KiB));
  await waitUntil('256 KiB', async () => taken.bytes === 256 * KiB);
  request.write(Buffer.alloc(1));
  await waitUntil('a pause', async () => request.isPaused());
  await vi.advanceTimersByTimeAsync(1_800_000);
  expect(taken).toEqual({ bytes: 256 * KiB, isOver: false });
  verdict.resolve();
  await waitUntil('the last byte', async () => taken.bytes === 256 * KiB + 1);
  request.end();
  await body.ended;
});

test('of many requests without a verdict, few read ahead', async () => {
  const verdict = Promise.withResolvers<void>();
  const requests = Array.from({ length: 200 }, () => new PassThrough());
  const all = requests.map((request) => readAll(request, {}, verdict.promise));
  for (const request of requests) for (let n = 0; n < 5; n += 1) request.write(Buffer.alloc(64 * KiB));
  const total = () => all.reduce((sum, { taken }) => sum + taken.bytes, 0);
  await waitUntil('pauses', async () => requests.every((request) => request.isPaused()));
  expect(total()).toBe((128 * 256 + 72 * 64) * KiB);
  verdict.resolve();
  await waitUntil('all bytes', async () => total() === 200 * 320 * KiB);
  for (const request of requests) request.end();
  await Promise.all(all.map(({ body }) => body.ended));
  const later = readAll(new PassThrough().end(Buffer.alloc(100 * KiB)), {}, new Promise(() => {}));
  await later.body.ended;
  expect(later.taken.bytes).toBe(100 * KiB);
});

test('a body is refused at the first byte above the limit', async () => {
  const request = new PassThrough();
  const { body, taken } = readAll(request, { maxBytes: 10 });
  request.write(Buffer.alloc(10));
  await waitUntil('ten bytes', async () => taken.bytes === 10);
  request.write('x');
  await expect(body.ended).rejects.toEqual(mediaTooLarge(0));
  expect(taken.bytes).toBe(10);
});

test('a sender that is silent for 30 s is too slow', async () => {
  const request = new PassThrough();
  const { body, taken } = readAll(request);
  // Enough for many minutes at the lowest rate.
  request.write(Buffer.alloc(1024 * KiB));
  await vi.advanceTimersByTimeAsync(1000);
  expect(taken.bytes).toBe(1024 * KiB);
  const refused = expect(body.ended).rejects.toMatchObject({ sentence: tooSlow });
  await vi.advanceTimersByTimeAsync(29_999);
  expect(taken.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await refused;
});

test.each([
  ['slower than 1 KiB/s is too slow', 1000, true],
  ['1 KiB/s is fast enough', 1024, false],
])('%s', async (_what, bytesPerSecond, refused) => {
  const request = new PassThrough();
  const { body, taken } = readAll(request);
  for (let second = 0; second < 65 && !taken.isOver; second++) {
    request.write(Buffer.alloc(bytesPerSecond));
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(taken.isOver).toBe(refused);
  if (refused) await expect(body.ended).rejects.toMatchObject({ sentence: tooSlow });
});

test('paused time does not make a sender too slow', async () => {
  const request = new PassThrough();
  const { body, taken } = readAll(request);
  for (let i = 1; i <= 10; i++) {
    body.resume();
    request.write(Buffer.alloc(10));
    await waitUntil('ten more bytes', async () => taken.bytes === 10 * i);
    body.pause();
    await vi.advanceTimersByTimeAsync(600_000 / 10 - 1);
  }
  expect(taken.isOver).toBe(false);
});

test('an upload beyond the time limit is too slow, however fast it is', async () => {
  const request = new PassThrough();
  const { body, taken } = readAll(request, { maxUploadSeconds: 10 });
  for (let second = 0; second < 9; second++) {
    request.write(Buffer.alloc(100_000));
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(taken).toEqual({ bytes: 900_000, isOver: false });
  await vi.advanceTimersByTimeAsync(1_001);
  await expect(body.ended).rejects.toMatchObject({
    reason: 'too_slow',
    sentence: 'The request took longer than 10 seconds.',
  });
});

test('a disconnect or stop ends reading, and leaves the request open for the response', async () => {
  const gone = new PassThrough();
  const { body } = readAll(gone);
  gone.destroy(new Error('aborted'));
  await expect(body.ended).rejects.toBeInstanceOf(ClientGone);

  const request = new PassThrough();
  const stopped = readAll(request).body;
  stopped.stop(new Refusal('unavailable'));
  await expect(stopped.ended).rejects.toEqual(new Refusal('unavailable'));
  expect(request.destroyed).toBe(false);
});

test('an error of the consumer ends reading', async () => {
  const request = new PassThrough();
  const take = () => {
    throw new Refusal('overloaded');
  };
  const { ended } = readBody(request, limits, take);
  request.write('x');
  await expect(ended).rejects.toEqual(new Refusal('overloaded'));
});

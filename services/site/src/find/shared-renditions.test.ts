import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { patienceMs } from '@echodrop/testkit/patience';
import { expect, test } from 'vitest';
import { SharedRenditions } from './shared-renditions.ts';

const request = { mediaKey: 'a', type: 'jpg', set: 'pictures' } as const;
const made = { outcome: 'made' } as const;
const waitMs = patienceMs;
const { signal } = new AbortController();

/** A client whose requests the test resolves. */
function controlledClient() {
  const sent: { request: RenditionRequest; signal: AbortSignal; reply: PromiseWithResolvers<RenditionReply> }[] = [];
  const make = async (request: RenditionRequest, waiting: { signal: AbortSignal }) => {
    const reply = Promise.withResolvers<RenditionReply>();
    waiting.signal.addEventListener('abort', () => reply.reject(waiting.signal.reason));
    sent.push({ request, signal: waiting.signal, reply });
    return reply.promise;
  };
  return {
    sent,
    renditions: new SharedRenditions({ make }, { stat: () => expect.fail('a read') }),
  };
}

test('readers who wait for the same renditions share a request', async () => {
  const { sent, renditions } = controlledClient();
  const video = { ...request, type: 'mp4', set: 'film' } as const;
  const requests = [request, request, video, { ...request, mediaKey: 'b' }, request];
  const replies = requests.map((each) => renditions.make(each, { waitMs, signal }));
  expect(sent.map((each) => each.request)).toEqual([request, video, { ...request, mediaKey: 'b' }]);
  for (const { reply } of sent) reply.resolve(made);
  expect(await Promise.all(replies)).toEqual(requests.map(() => made));
});

test('at most 1024 readers wait at once, for all renditions', async () => {
  const { sent, renditions } = controlledClient();
  const replies = Array.from({ length: 1024 }, (_, n) =>
    renditions.make({ ...request, mediaKey: `${n % 3}` }, { waitMs, signal }),
  );
  const another = () => renditions.make({ ...request, mediaKey: 'another' }, { waitMs, signal });
  await expect(another()).rejects.toThrow(QueueUnavailable);
  for (const { reply } of sent) reply.resolve(made);
  await Promise.all(replies);
  const reply = another();
  sent.at(-1)?.reply.resolve(made);
  expect(await reply).toEqual(made);
});

test('sends a new request after a reply', async () => {
  const { sent, renditions } = controlledClient();
  for (const n of [0, 1]) {
    const reply = renditions.make(request, { waitMs, signal });
    sent[n]?.reply.resolve(made);
    expect(await reply).toEqual(made);
  }
  expect(sent).toHaveLength(2);
});

test('a request ends when its last reader leaves', async () => {
  const { sent, renditions } = controlledClient();
  const going = [new AbortController(), new AbortController()];
  const replies = going.map((each) => renditions.make(request, { waitMs, signal: each.signal }));
  going[0]?.abort(new Error('gone'));
  await expect(replies[0]).rejects.toThrow('gone');
  expect(sent[0]?.signal.aborted).toBe(false);
  going[1]?.abort(new Error('gone too'));
  await expect(replies[1]).rejects.toThrow('gone too');
  expect(sent[0]?.signal.aborted).toBe(true);

  const next = renditions.make(request, { waitMs, signal });
  sent[1]?.reply.resolve(made);
  expect(await next).toEqual(made);
});

test('each reader has its own time limit', async () => {
  const { sent, renditions } = controlledClient();
  const patient = renditions.make(request, { waitMs, signal });
  await expect(renditions.make(request, { waitMs: 1, signal })).rejects.toThrow(QueueUnavailable);
  sent[0]?.reply.resolve(made);
  expect(await patient).toEqual(made);
  expect(sent).toHaveLength(1);
});

test('a failure reaches every reader', async () => {
  const { sent, renditions } = controlledClient();
  const replies = [request, request].map((each) => renditions.make(each, { waitMs, signal }));
  sent[0]?.reply.reject(new QueueUnavailable('down'));
  for (const each of await Promise.allSettled(replies)) expect(each).toMatchObject({ reason: { message: 'down' } });
});

test('a reader that has left does not wait, and causes no request', async () => {
  const { sent, renditions } = controlledClient();
  const gone = AbortSignal.abort(new Error('gone before'));
  await expect(renditions.make(request, { waitMs, signal: gone })).rejects.toThrow('gone before');
  expect(sent).toEqual([]);
});

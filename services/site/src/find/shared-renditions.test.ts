import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { expect, test } from 'vitest';
import { SharedRenditions } from './shared-renditions.ts';

const question = { mediaKey: 'a', type: 'jpg', set: 'pictures' } as const;
const made = { outcome: 'made' } as const;
const waitMs = 5000;
const { signal } = new AbortController();

/** A wire that answers when it is told to. */
function quietWire() {
  const asked: { question: RenditionRequest; signal: AbortSignal; answer: PromiseWithResolvers<RenditionReply> }[] = [];
  const make = async (question: RenditionRequest, waiting: { signal: AbortSignal }) => {
    const answer = Promise.withResolvers<RenditionReply>();
    waiting.signal.addEventListener('abort', () => answer.reject(waiting.signal.reason));
    asked.push({ question, signal: waiting.signal, answer });
    return answer.promise;
  };
  return { asked, renditions: new SharedRenditions({ make }) };
}

test('many who wait for the same ask once, and each for another asks', async () => {
  const { asked, renditions } = quietWire();
  const video = { ...question, type: 'mp4', set: 'film' } as const;
  const questions = [question, question, video, { ...question, mediaKey: 'b' }, question];
  const answers = questions.map((each) => renditions.make(each, { waitMs, signal }));
  expect(asked.map((each) => each.question)).toEqual([question, video, { ...question, mediaKey: 'b' }]);
  for (const { answer } of asked) answer.resolve(made);
  expect(await Promise.all(answers)).toEqual(questions.map(() => made));
});

test('what was answered is asked anew', async () => {
  const { asked, renditions } = quietWire();
  for (const n of [0, 1]) {
    const answer = renditions.make(question, { waitMs, signal });
    asked[n]?.answer.resolve(made);
    expect(await answer).toEqual(made);
  }
  expect(asked).toHaveLength(2);
});

test('who goes takes nobody along, and when the last has gone the question ends', async () => {
  const { asked, renditions } = quietWire();
  const going = [new AbortController(), new AbortController()];
  const answers = going.map((each) => renditions.make(question, { waitMs, signal: each.signal }));
  going[0]?.abort(new Error('gone'));
  await expect(answers[0]).rejects.toThrow('gone');
  expect(asked[0]?.signal.aborted).toBe(false);
  going[1]?.abort(new Error('gone too'));
  await expect(answers[1]).rejects.toThrow('gone too');
  expect(asked[0]?.signal.aborted).toBe(true);

  const next = renditions.make(question, { waitMs, signal });
  asked[1]?.answer.resolve(made);
  expect(await next).toEqual(made);
});

test('each waits as long as it has said, however long others have waited', async () => {
  const { asked, renditions } = quietWire();
  const patient = renditions.make(question, { waitMs, signal });
  await expect(renditions.make(question, { waitMs: 1, signal })).rejects.toThrow(QueueUnavailable);
  asked[0]?.answer.resolve(made);
  expect(await patient).toEqual(made);
  expect(asked).toHaveLength(1);
});

test('a wire that fails is told to all', async () => {
  const { asked, renditions } = quietWire();
  const answers = [question, question].map((each) => renditions.make(each, { waitMs, signal }));
  asked[0]?.answer.reject(new QueueUnavailable('down'));
  for (const each of await Promise.allSettled(answers)) expect(each).toMatchObject({ reason: { message: 'down' } });
});

test('who has gone already does not wait', async () => {
  const { renditions } = quietWire();
  const gone = AbortSignal.abort(new Error('gone before'));
  await expect(renditions.make(question, { waitMs, signal: gone })).rejects.toThrow('gone before');
});

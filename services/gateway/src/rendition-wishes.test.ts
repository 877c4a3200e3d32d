import { QueueUnavailable } from '@echodrop/contracts/ask-queue';
import { expect, test } from 'vitest';
import { RenditionWishes } from './rendition-wishes.ts';

const media = { mediaKey: '0123456789abcdef0123456789abcdef', type: 'jpg' } as const;

test('asking returns at once, however long the queue takes', () => {
  const wishes = new RenditionWishes({ wish: () => new Promise(() => {}) }, () => {});
  expect(wishes.ask(media)).toBeUndefined();
});

test('a queue that is down is told of, and hurts nobody', async () => {
  const told = Promise.withResolvers<unknown[]>();
  const error = new QueueUnavailable('the queue did not take it');
  const wishes = new RenditionWishes({ wish: () => Promise.reject(error) }, (...what) => told.resolve(what));
  wishes.ask(media);
  expect(await told.promise).toEqual([media.mediaKey, error]);
});

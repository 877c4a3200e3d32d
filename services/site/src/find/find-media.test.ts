import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { removeMedia } from '@echodrop/archive/remove-media';
import { mediaObjectKey, recordKey } from '@echodrop/object-store/object-keys';
import { UnreadableRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newStore, publishSample } from '../site.fixture.ts';
import { findMedia, findPublished, isMediaGone, type MediaSources, type PublishedMedia } from './find-media.ts';
import { ReadMemory } from './read-memory.ts';

const { signal } = new AbortController();
let resources: AsyncDisposableStack;
let sources: MediaSources;
let reports: string[];

beforeEach(async () => {
  resources = new AsyncDisposableStack();
  reports = [];
  const events = {
    mediaMissing(mediaId: string) {
      reports.push(mediaId);
    },
    recordUnreadable(mediaId: string, { message }: UnreadableRecord) {
      reports.push(`unreadable ${mediaId}: ${message}`);
    },
  };
  sources = { store: await newStore(resources), memory: new ReadMemory(), events, signal };
});
afterEach(() => resources.disposeAsync());

async function published(): Promise<PublishedMedia> {
  const id = await publishSample(sources.store, Buffer.from('media'));
  const found = await findPublished(sources, id);
  return typeof found === 'string' ? expect.fail(found) : found;
}

test('does not report media that is removed while a reader requests it', async () => {
  const record = await published();
  await removeMedia(sources.store, record, { by: 'owner', at: new Date() });
  expect(await isMediaGone(record, sources)).toBe(true);
  expect(await findMedia(sources, record.id)).toBe('gone');
  expect(reports).toEqual([]);
});

test('reports media that is missing without a removal', async () => {
  const record = await published();
  await sources.store.remove(mediaObjectKey(record.mediaKey));
  expect(await findMedia(sources, record.id)).toBe('gone');
  expect(reports).toEqual([record.id]);
});

test('reports the id of an unreadable record, and why', async () => {
  const { id } = await published();
  const record = recordKey(id);
  const bytes = await buffer((await sources.store.read(record))?.body ?? expect.fail('no record'));
  const versions = [
    ['invalid JSON', bytes.subarray(0, 50)],
    ['unsupported version 2; this release reads 1', bytes.toString().replace('"version":1', '"version":2')],
    ['unknown type psd', bytes.toString().replace('"jpg"', '"psd"')],
  ] as const;
  for (const [why, each] of versions) {
    await sources.store.put(record, Readable.from([Buffer.from(each)]));
    for (const find of [findMedia, findPublished]) {
      reports = [];
      await expect(find({ ...sources, memory: new ReadMemory() }, id)).rejects.toThrow(UnreadableRecord);
      expect(reports).toEqual([`unreadable ${id}: ${why}`]);
    }
  }
});

test('finds nothing for an unknown id', async () => {
  for (const id of ['AAAAAAAAAA', '', '../records/x']) expect(await findMedia(sources, id)).toBe('not_found');
});

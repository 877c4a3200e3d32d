import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { removeMedia } from '@echodrop/archive/remove-media';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, recordKey } from '@echodrop/object-store/object-keys';
import { UnreadableRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { publishSample } from '../publish-sample.fixture.ts';
import { findMedia, findPublished, isMediaGone, type MediaSources, type PublishedMedia } from './find-media.ts';

const { signal } = new AbortController();
let parts: AsyncDisposableStack;
let sources: MediaSources;
let alarms: string[];

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
  alarms = [];
  const events = {
    mediaMissing(mediaId: string) {
      alarms.push(mediaId);
    },
    recordUnreadable(mediaId: string) {
      alarms.push(`unreadable ${mediaId}`);
    },
  };
  sources = { store: parts.use(new FilesystemObjectStore(path)), events };
});
afterEach(() => parts.disposeAsync());

async function published(): Promise<PublishedMedia> {
  const id = await publishSample(sources.store, Buffer.from('media'));
  const found = await findMedia(sources, id, signal);
  return typeof found === 'string' ? expect.fail(found) : found;
}

test('media that is taken down while a reader is on the way to it is no alarm', async () => {
  const record = await published();
  expect(await isMediaGone(record, sources, signal)).toBe(false);
  await removeMedia(sources.store, record, { by: 'owner', at: new Date() });
  expect(await isMediaGone(record, sources, signal)).toBe(true);
  expect(await findMedia(sources, record.id, signal)).toBe('gone');
  expect(alarms).toEqual([]);
});

test('media that is missing without anybody having taken it down is one', async () => {
  const record = await published();
  await sources.store.remove(mediaObjectKey(record.mediaKey));
  expect(await findMedia(sources, record.id, signal)).toBe('gone');
  expect(alarms).toEqual([record.id]);
});

test('a record that cannot be read is an alarm that names it, whoever looks', async () => {
  const { id } = await published();
  const record = recordKey(id);
  const bytes = await buffer((await sources.store.read(record))?.body ?? expect.fail('no record'));
  const versions = [bytes.subarray(0, 50), bytes.toString().replace('"version":1', '"version":2')];
  for (const each of [...versions, bytes.toString().replace('"jpg"', '"psd"')]) {
    await sources.store.put(record, Readable.from([Buffer.from(each)]));
    for (const look of [findMedia, findPublished]) {
      alarms = [];
      await expect(look(sources, id, signal)).rejects.toThrow(UnreadableRecord);
      expect(alarms).toEqual([`unreadable ${id}`]);
    }
  }
});

test('of an id that nobody has there is nothing', async () => {
  for (const id of ['AAAAAAAAAA', '', '../records/x']) expect(await findMedia(sources, id, signal)).toBe('not_found');
});

import { Readable } from 'node:stream';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listObjects } from '@echodrop/object-store/list-objects';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { expect, test } from 'vitest';
import { clockedStore, TestClock } from './clocked-store.fixture.ts';
import { useFolderStore } from './folder-store.fixture.ts';
import { beginResumable } from './publish-sample.fixture.ts';
import { newTailKey } from './resumable-state.ts';
import { findResumable, listResumables, StateConflict, saveResumable } from './resumable-uploads.ts';
import { sweep } from './sweep.ts';
import { surveyResumables } from './sweep-resumables.ts';
import { verifyStore } from './verify-store.ts';

const hourMs = 3_600_000;

const opened = useFolderStore();

/** An upload with the bytes of its media, complete or in part. */
async function uploaded(store: FilesystemObjectStore, expires: Date, isComplete = false) {
  let upload = await beginResumable(store, { expires, length: 10 });
  await store.append(upload.state.write, Readable.from([Buffer.alloc(10)]), {
    newTailKey: () => newTailKey(upload.id),
    save: async (write) => {
      upload = await saveResumable(store, upload, { ...upload.state, write });
    },
  });
  if (isComplete) await store.completeWrite(upload.state.write);
  return upload;
}

test('objects that are no states do not hide the last one, and any number of them can be there', async () => {
  const { store } = opened;
  const upload = await beginResumable(store);
  for (const name of ['000000009.json', '-1.json', '1e9.json', '9999999999.json', '1.json.bak', '7.jsonx'])
    await store.put(`resumable/${upload.id}/${name}`, Readable.from([Buffer.from('{}')]));
  expect(await findResumable(store, upload.id)).toEqual(upload);
});

test('a state expires 30 days after its last write, whatever it says', async () => {
  const { store } = opened;
  await uploaded(store, new Date('2999-01-01T00:00:00Z'));
  const take = (days: number) => surveyResumables(store, { now: Date.now() + days * 24 * hourMs, olderThanMs: hourMs });
  expect((await take(29)).expired).toEqual([]);
  expect((await take(31)).expired).toHaveLength(1);
});

test('of two processes that continue an upload, one gets a conflict', async () => {
  const { store } = opened;
  const first = await beginResumable(store);
  const saved = await saveResumable(store, first, { ...first.state, length: 11 });
  // A lost response may repeat it.
  expect(await saveResumable(store, first, { ...first.state, length: 11 })).toEqual(saved);
  await expect(saveResumable(store, first, { ...first.state, length: 12 })).rejects.toThrow(StateConflict);
  expect(await findResumable(store, first.id)).toEqual(saved);
});

test('the sweep removes expired uploads with their bytes, and keeps what the others need', async () => {
  const { store } = opened;
  const past = new Date(Date.now() - 1000);
  const future = new Date(Date.now() + hourMs);
  const expired = await uploaded(store, past);
  const running = await uploaded(store, future);
  const complete = await uploaded(store, future, true);
  // Everything is old.
  const { report } = await sweep(store, { olderThanMs: -hourMs, dryRun: false, force: true });
  expect(report.kinds.resumable).toEqual({ found: 1, removed: 1, bytes: 10 });
  expect(report.kinds).toMatchObject({ media: { found: 0 }, uploads: { found: 0 } });
  expect(await Array.fromAsync(listResumables(store), ({ id }) => id)).toEqual([running.id, complete.id].sort());
  expect(await Array.fromAsync(listObjects(store, `resumable/${expired.id}/`))).toEqual([]);
  expect((await store.completeWrite(running.state.write)).size).toBe(10);
  expect(await store.stat(mediaObjectKey(complete.state.mediaKey))).toBeDefined();
});

test('the state of a published upload keeps no media', async () => {
  const { store } = opened;
  const upload = await uploaded(store, new Date(Date.now() + hourMs), true);
  await saveResumable(store, upload, { ...upload.state, isPublished: true });
  await sweep(store, { olderThanMs: -hourMs, dryRun: false, force: true });
  expect(await store.stat(mediaObjectKey(upload.state.mediaKey))).toBeUndefined();
});

test('if a state cannot be read, the sweep keeps what it may need', async () => {
  const { store } = opened;
  const running = await uploaded(store, new Date(Date.now() + hourMs));
  const complete = await uploaded(store, new Date(Date.now() + hourMs), true);
  const read = (key: string) => (key.startsWith('resumable/') ? Promise.reject(new Error('down')) : store.read(key));
  const broken = { ...clockedStore(store, new TestClock(store)), read };
  const { failure } = await sweep(broken, { olderThanMs: -hourMs, dryRun: false, force: true });
  expect(failure).toEqual(new Error('down'));
  expect((await store.completeWrite(running.state.write)).size).toBe(10);
  expect(await store.stat(mediaObjectKey(complete.state.mediaKey))).toBeDefined();
});

test('an unreadable state keeps what it may need until every upload of its time has expired', async () => {
  const { store } = opened;
  const complete = await uploaded(store, new Date(Date.now() + hourMs), true);
  const [{ key = '' } = {}] = await Array.fromAsync(listObjects(store, `resumable/${complete.id}/`));
  await store.put(key, Readable.from([Buffer.from('{}')]));
  const options = { olderThanMs: -hourMs, dryRun: false, force: true };
  const media = mediaObjectKey(complete.state.mediaKey);
  const { failure } = await sweep(store, options);
  expect(String(failure)).toContain(`The state of the resumable upload ${complete.id} is unreadable.`);
  expect(await store.stat(media)).toBeDefined();
  const verify = { concurrency: 1, isMoved: false, shouldReadBytes: false };
  const checked = await Array.fromAsync(verifyStore(store, verify));
  expect(checked.flatMap(({ findings }) => findings)).toContainEqual(
    expect.objectContaining({
      key: `resumable/${complete.id}/`,
      text: expect.stringContaining('state of a resumable upload'),
    }),
  );
  const clock = new TestClock(store);
  await clock.advance(31 * 24);
  await sweep(clockedStore(store, clock), options);
  expect(await Array.fromAsync(listObjects(store, 'resumable/'))).toEqual([]);
  expect(await store.stat(media)).toBeUndefined();
});

test('the sweep removes bytes without a state, which an interrupted removal leaves', async () => {
  const { store } = opened;
  await store.put(newTailKey(newMediaKey()), Readable.from([Buffer.alloc(10)]));
  await sweep(store, { olderThanMs: hourMs, dryRun: false, force: true });
  expect(await Array.fromAsync(listObjects(store, 'resumable/'))).toEqual([]);
});

test('the sweep keeps an upload whose state a list has missed', async () => {
  const { store } = opened;
  const clock = new TestClock(store);
  const expires = new Date(Date.now() + 48 * hourMs);
  const running = await uploaded(store, expires);
  const complete = await uploaded(store, expires, true);
  await clock.advance(24);
  // States that were saved just now, of media that is old.
  for (const upload of [running, complete]) await saveResumable(store, upload, upload.state);
  const clocked = clockedStore(store, clock);
  const missed = new Set([running, complete].map(({ id }) => `resumable/${id}/`));
  const listKeys: typeof store.listKeys = async (prefix, page) => {
    const listed = await clocked.listKeys(prefix, page);
    const isMissed = missed.delete(prefix);
    return isMissed ? [] : listed;
  };
  const missing = { ...clocked, listKeys };
  await sweep(missing, { olderThanMs: 12 * hourMs, dryRun: false, force: true });
  expect([...missed]).toEqual([]);
  expect(await Array.fromAsync(listResumables(store))).toHaveLength(2);
  expect((await store.completeWrite(running.state.write)).size).toBe(10);
  expect(await store.stat(mediaObjectKey(complete.state.mediaKey))).toBeDefined();
});

test('verify-store reports the media of a running upload as young', async () => {
  const { store } = opened;
  await uploaded(store, new Date(Date.now() + 48 * hourMs), true);
  const clock = new TestClock(store);
  await clock.advance(25);
  const options = { concurrency: 1, isMoved: false, shouldReadBytes: false };
  const checked = await Array.fromAsync(verifyStore(clockedStore(store, clock), options));
  expect(checked.flatMap(({ findings }) => findings)).toMatchObject([
    { kind: 'orphan', text: expect.stringContaining('younger than a day') },
  ]);
});

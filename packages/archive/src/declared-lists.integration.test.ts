import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { maxListLength } from '@echodrop/object-store/object-store';
import { expect, test } from 'vitest';
import { publishSample } from './publish-sample.fixture.ts';
import { listsOfRebuild, rebuildListings } from './rebuild-listings.ts';
import { listsOfSweep, sweep } from './sweep-orphans.ts';
import { listsOfCheck, verifyStore } from './verify-store.ts';

/** Notes the prefixes that are listed in full; renditions beside media, and what is always short, are no parts. */
class NotingStore extends FilesystemObjectStore {
  readonly listed: string[] = [];

  override list(...[prefix, page]: Parameters<FilesystemObjectStore['list']>) {
    this.#note(prefix, page.limit);
    return super.list(prefix, page);
  }

  override listKeys(...[prefix, page]: Parameters<FilesystemObjectStore['listKeys']>) {
    this.#note(prefix, page.limit);
    return super.listKeys(prefix, page);
  }

  #note(prefix: string, limit: number): void {
    if (limit === maxListLength && /^(?:by-time|by-user|records|media)\/$/.test(prefix)) this.listed.push(prefix);
  }
}

const { signal } = new AbortController();
const options = { olderThanMs: 0, dryRun: true, force: true, signal };
const check = { concurrency: 1, isMoved: true, shouldReadBytes: false, olderThanMs: 0, signal };
const shown = (stages: readonly (readonly string[])[]) => stages.flat().filter((prefix) => prefix !== 'renditions/');

test('checks, sweeps and rebuilds list what they declare as their parts', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'declared-lists-'));
  await using store = new NotingStore(folder.path);
  await publishSample(store);
  const listedBy = async (work: () => Promise<unknown>) => {
    store.listed.length = 0;
    await work();
    return [...store.listed];
  };
  const [required = [], ifOrphans = []] = listsOfCheck();
  const verify = (after?: string) => () => Array.fromAsync(verifyStore(store, { ...check, after }));
  expect(await listedBy(verify())).toEqual(shown([required]));
  for (const after of ['by-time/', 'by-user/', 'media/'])
    expect(await listedBy(verify(after))).toEqual(shown(listsOfCheck(after).slice(0, 1)));
  expect(await listedBy(() => Array.fromAsync(rebuildListings(store)))).toEqual(shown(listsOfRebuild));

  const { report } = await sweep(store, { ...options, dryRun: false });
  const [short = [], all = []] = listsOfSweep;
  expect(await listedBy(() => sweep(store, options))).toEqual(shown([all]));
  expect(await listedBy(() => sweep(store, { ...options, last: report }))).toEqual(shown([short]));
  await store.putIfAbsent(mediaObjectKey(newMediaKey()), Buffer.from('media'));
  expect(await listedBy(verify())).toEqual(shown([required, ifOrphans]));
  expect(await listedBy(() => sweep(store, { ...options, last: report }))).toEqual(shown(listsOfSweep));
});

import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { listNewest, removeFromListings } from '@echodrop/archive/listing';
import { flatListingKeys, type ListingEntry, listingEntryOf, listingKeys } from '@echodrop/archive/listing-keys';
import { beginResumable, publishSample } from '@echodrop/archive/publish-sample.fixture';
import { findRecord } from '@echodrop/archive/records';
import type { ResumableState } from '@echodrop/archive/resumable-state';
import { listResumables } from '@echodrop/archive/resumable-uploads';
import { listKeys } from '@echodrop/object-store/list-objects';
import { listingPrefix, mediaObjectKey, recordKey, renditionKey } from '@echodrop/object-store/object-keys';
import { decodeStoredRecord } from '@echodrop/record';
import { expect, test } from 'vitest';
import { runCommand, useDataDir } from './admin.fixture.ts';

const provider = 'https://id.example/verify';
const ada = { provider, subject: '12345' };
const bob = { provider, subject: '777' };
const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));

const dataDir = useDataDir();

const site = 'https://media.example';
const addresses = { PUBLIC_SITE_URL: site, PUBLIC_UPLOAD_URL: 'https://upload.example/api' };

function run(...args: string[]) {
  return runCommand(args, { DATA_DIR: dataDir.folder, ...addresses });
}

function auditOf({ stderr }: { stderr: string }) {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

async function publishThree() {
  const first = await publishSample(dataDir.store, { timestamp: at(1) });
  const second = await publishSample(dataDir.store, { timestamp: at(2), ...bob });
  return [first, second, await publishSample(dataDir.store, { timestamp: at(3) })] as const;
}

test('list prints the newest uploads of all or of one user first, and a cursor', async () => {
  const [first, second, third] = await publishThree();
  const all = await run('list');
  expect(all.exitCode).toBe(0);
  expect(all.lines.map((line) => line.split(/ +/)[1])).toEqual(['id', third.id, second.id, first.id]);
  const [head, line, more] = (await run('list', provider, '12345', '--count', '1')).lines;
  const cells = [third.id, 'jpg', '5', '"ada"', `"${provider}"`, '"12345"', '"test"', '"Lunch"'];
  expect(line?.split(/ +/)).toEqual(['2026-11-21T12:00:03.000Z', ...cells]);
  const columnsOf = (text = '') => [...text.matchAll(/\S+/g)].map(({ index }) => index);
  expect(columnsOf(head)).toEqual(columnsOf(line));
  const cursor = /--after (\S+)$/.exec(more ?? '')?.[1] ?? expect.fail('no cursor');
  expect((await run('list', provider, '12345', '--after', cursor)).stdout).toContain(first.id);
});

test.each([
  [['list', provider], 'Name provider and subject'],
  [['list', '--count', '0'], 'Must be 1 to 500'],
  [['list', '--count', 'x'], 'Must be 1 to 500'],
  [['remove'], "missing required argument 'upload'"],
  [['block-user', provider], "missing required argument 'subject'"],
])('%j exits with status 2', async (args, expected) => {
  const { exitCode, stderr } = await run(...args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(expected);
});

test('list rejects an invalid cursor', async () => {
  const { exitCode, stderr } = await run('list', '--after', 'x');
  expect([exitCode, stderr]).toEqual([1, 'Invalid cursor.']);
});

test('without a configured or local store, says what to start or to set', async () => {
  const { exitCode, stderr } = await runCommand(['list'], { DATA_DIR: join(dataDir.folder, 'elsewhere') });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^No object store in .*elsewhere\. Start the system first, or set DATA_DIR/);
});

test('remove deletes uploads, logs each for audit, and reports unknown ids', async () => {
  const [first, second, third] = await publishThree();
  const ran = await run('remove', first.id, 'ZZZZZZZZZZ', '\u001b[2J', `${site}/${third.id}/large.jpg`);
  expect(ran.exitCode).toBe(1);
  expect(ran.lines).toEqual([
    `${first.id}: deleted`,
    'ZZZZZZZZZZ: no such upload',
    '"\\u001b[2J": contains white space or control characters',
    `${third.id}: deleted`,
  ]);
  expect(auditOf(ran)).toMatchObject(
    [first, third].map(({ id, mediaKey }) => ({ audit: true, action: 'remove', mediaId: id, mediaKey, ...ada })),
  );
  expect(await findRecord(dataDir.store, first.id)).toHaveProperty('removed.by', 'operator');
  expect(await dataDir.store.stat(mediaObjectKey(first.mediaKey))).toBeUndefined();
  expect((await listNewest(dataDir.store, { limit: 9 })).records).toEqual([second]);
  expect((await run('remove', first.id)).stdout).toMatch(/already deleted by an operator on 20/);
});

test('an address of another host deletes nothing; the error names the id', async () => {
  const { id } = await publishSample(dataDir.store);
  const ran = await run('remove', `https://other.example/${id}`);
  expect([ran.exitCode, ran.lines]).toEqual([
    1,
    [`"https://other.example/${id}": not at ${site} (PUBLIC_SITE_URL). If it is the right upload, pass its id: ${id}`],
  ]);
  expect(await findRecord(dataDir.store, id)).not.toHaveProperty('removed');
});

test('show prints the record, the user, listings and files of an upload, named by its address', async () => {
  const record = await publishSample(dataDir.store, { text: 'Lunch\u001b[31m'.padEnd(200, 'b'), alt: 'Soup' });
  const rendition = renditionKey(record.mediaKey, { name: 'large', version: 7, extension: 'jpg' });
  await dataDir.store.put(rendition, Readable.from([Buffer.from('picture')]));
  await run('block-user', provider, '12345');
  const { exitCode, lines } = await run('show', `${site}/${record.id}/large.jpg`);
  const since = /since 20\S+Z$/.exec(lines.join('\n').match(/^blocked.*$/m)?.[0] ?? '')?.[0];
  expect([exitCode, lines.map((line) => line.split(/ {2,}/))]).toEqual([
    0,
    [
      ['id', record.id],
      ['page', `${site}/${record.id}`],
      ['published', '2026-11-21T11:36:34.000Z'],
      ['file', 'jpg, 320x240, 5 bytes'],
      ['caption', `"Lunch\\u001b[31m${'b'.repeat(190)}"`],
      ['alternative text', '"Soup"'],
      ['user', '"ada", user.id 12345'],
      ['provider', `"${provider}"`],
      ['subject', '"12345"'],
      ['application', '"test"'],
      ['blocked', `the user, ${since}`],
      ['listings', 'complete'],
      ['media', mediaObjectKey(record.mediaKey)],
      ['renditions', 'large-7.jpg'],
    ],
  ]);
});

test('show says what is wrong with an upload and what to do, and how a deleted one ended', async () => {
  const { id, mediaKey } = await publishSample(dataDir.store);
  await dataDir.store.put(mediaObjectKey(mediaKey), Readable.from([Buffer.from('cut')]));
  expect((await run('show', id)).stdout).toMatch(/^media +\S+ has 3 bytes\. Restore it from a backup$/m);
  await dataDir.store.remove(mediaObjectKey(mediaKey));
  for (const { key } of await dataDir.store.list(listingPrefix(), { limit: 9 })) await dataDir.store.remove(key);
  const { stdout } = await run('show', id);
  expect(stdout).toMatch(/^blocked +no$/m);
  expect(stdout).toMatch(/^listings +incomplete\. Run rebuild-listings$/m);
  expect(stdout).toMatch(/^media +\S+ is missing\. Restore it from a backup$/m);
  expect(stdout).toMatch(/^renditions +none$/m);
  await run('remove', id);
  expect((await run('show', id)).stdout).toMatch(/^deleted +by an operator on 20\S+Z\nmedia +deleted$/m);
  await dataDir.store.put(mediaObjectKey(mediaKey), Readable.from([Buffer.from('left')]));
  expect((await run('show', id)).stdout).toMatch(/^media +left by an unfinished deletion\. Finish it: remove/m);
  await dataDir.store.put(recordKey(id), Readable.from([Buffer.from('{}')]));
  expect(await run('show', id)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('record unreadable') });
  expect(await run('show', 'Ab3dE6gH9j')).toMatchObject({ exitCode: 1, stderr: 'Ab3dE6gH9j: no such upload' });
});

test('purge counts, and with --yes deletes all uploads of a user, listed or not', async () => {
  const [first, second, third] = await publishThree();
  for (const { key } of await dataDir.store.list(listingPrefix(), { limit: 9 })) await dataDir.store.remove(key);
  expect((await run('purge', provider, '12345')).stdout).toMatch(/^Dry run: would delete 2 uploads\. Add --yes/);
  expect(await findRecord(dataDir.store, first.id)).toEqual(first);
  const ran = await run('purge', provider, '12345', '--yes');
  expect(ran.exitCode).toBe(0);
  expect(auditOf(ran)).toHaveLength(2);
  for (const { id, mediaKey } of [first, third]) {
    expect(await findRecord(dataDir.store, id)).toHaveProperty('removed');
    expect(await dataDir.store.stat(mediaObjectKey(mediaKey))).toBeUndefined();
  }
  expect(await findRecord(dataDir.store, second.id)).toEqual(second);
  expect((await run('purge', provider, '12345', '--yes')).stdout).toContain('Deleted 0 uploads');
});

test('purge deletes unfinished uploads of the user, and the states of published ones', async () => {
  const { store } = dataDir;
  const subject = '77';
  const { id: mediaId } = await publishSample(store, { subject });
  const create = async (state: Partial<ResumableState>) => {
    const { id, state: created } = await beginResumable(store, state);
    // Complete, but its publication failed.
    const media = mediaObjectKey(created.mediaKey);
    await store.put(media, Readable.from([Buffer.from('media')]));
    return { id, media };
  };
  const mine = await create({ subject });
  await create({ subject, mediaId });
  const other = await create({ subject: '1' });
  expect((await run('purge', provider, subject)).stdout).toMatch(/^Dry run: would delete 2 uploads\./);
  const ran = await run('purge', provider, subject, '--yes');
  expect(ran.stdout.split('\n')).toEqual([
    `${mediaId}: deleted`,
    `${mine.id}: unfinished, deleted`,
    'Deleted 2 uploads.',
  ]);
  expect(auditOf(ran)).toHaveLength(2);
  expect(await Array.fromAsync(listResumables(store), ({ id }) => id)).toEqual([other.id]);
  expect(await Promise.all([mine, other].map(({ media }) => store.exists(media)))).toEqual([false, true]);
});

test('export writes the files and records of a user into an empty folder', async () => {
  const mine = await publishSample(dataDir.store, { type: 'png', alt: 'A picture of mine' }, Buffer.from('my picture'));
  await publishSample(dataDir.store, bob);
  const into = join(dataDir.folder, 'export');
  const ran = await run('export', provider, '12345', into);
  expect([ran.exitCode, ran.stdout]).toEqual([0, 'Exported 1 uploads.']);
  expect(auditOf(ran)).toMatchObject([{ action: 'export', ...ada }]);
  expect((await readdir(into)).sort()).toEqual([`${mine.id}.json`, `${mine.id}.png`]);
  expect(await readFile(join(into, `${mine.id}.png`), 'utf8')).toBe('my picture');
  expect(decodeStoredRecord(await readFile(join(into, `${mine.id}.json`)), mine.id)).toEqual(mine);
  expect((await run('export', provider, '12345', into)).stderr).toBe(`Folder ${into} is not empty.`);
});

test('only their owner can read exported files, also in a folder that others can enter', async () => {
  const { id } = await publishSample(dataDir.store, { type: 'png' });
  const into = join(dataDir.folder, 'export');
  await mkdir(into, { mode: 0o755 });
  expect((await run('export', provider, '12345', into)).exitCode).toBe(0);
  for (const name of [`${id}.json`, `${id}.png`]) expect((await stat(join(into, name))).mode & 0o777).toBe(0o600);
});

test('export-upload writes one file and its record, named by id or address', async () => {
  const [, second] = await publishThree();
  const into = join(dataDir.folder, 'evidence');
  const ran = await run('export-upload', `${site}/${second.id}`, into);
  expect(ran).toMatchObject({ exitCode: 0, stdout: `${second.id}: exported` });
  expect(auditOf(ran)).toMatchObject([{ action: 'export', mediaId: second.id, ...bob }]);
  expect((await readdir(into)).sort()).toEqual([`${second.id}.jpg`, `${second.id}.json`]);
  const record = decodeStoredRecord(await readFile(join(into, `${second.id}.json`)), second.id);
  expect(record).toEqual(second);
});

test('export-upload reports an upload that was deleted', async () => {
  const [first] = await publishThree();
  await run('remove', first.id);
  const into = join(dataDir.folder, 'evidence');
  expect(await run('export-upload', first.id, into)).toMatchObject({
    exitCode: 1,
    stderr: `${first.id}: already deleted`,
  });
});

test('export goes on past media that is missing, damaged or of another size', async () => {
  const damaged = await publishSample(dataDir.store, { crc32: '00000000' });
  const longer = await publishSample(dataDir.store, { size: 4 });
  const missing = await publishSample(dataDir.store);
  await dataDir.store.remove(mediaObjectKey(missing.mediaKey));
  const fine = await publishSample(dataDir.store);
  const into = join(dataDir.folder, 'export');
  const { exitCode, lines } = await run('export', provider, '12345', into);
  expect([exitCode, lines.toSorted()]).toEqual([
    1,
    [
      `${damaged.id}: media unreadable (stored bytes differ from their checksum)`,
      `${longer.id}: media has 5 bytes; its record says 4`,
      `${missing.id}: media missing from the store`,
      'Exported 1 uploads.',
    ].toSorted(),
  ]);
  const files = [...[damaged, longer, missing, fine].map(({ id }) => `${id}.json`), `${fine.id}.jpg`];
  expect((await readdir(into)).toSorted()).toEqual(files.toSorted());
});

test('blocks lists the others if one is unreadable, and exits with 1', async () => {
  await run('block-user', provider, '12345');
  await dataDir.store.put(`blocks/users/${'0'.repeat(32)}`, Readable.from([Buffer.from('{}')]));
  const { exitCode, lines, stderr } = await run('blocks');
  expect([exitCode, lines[0], stderr]).toEqual([
    1,
    `blocks/users/${'0'.repeat(32)}: block unreadable (invalid block), but it still blocks uploads. To lift it, delete this object.`,
    '1 blocks are unreadable.',
  ]);
  expect(lines[1]).toContain('user "12345"');
});

test('rebuild-listings deletes entries of a future time, and those below other folders', async () => {
  const { id } = await publishSample(dataDir.store);
  const entries = ['by-time/0000000000000-aaaaaaaaaa', `by-time/0000000000000-${id}`, `by-user/x/8205000000000-${id}`];
  for (const key of entries) await dataDir.store.putIfAbsent(key, Buffer.alloc(0));
  expect((await run('verify-store')).stdout).toMatch(/ 3 faults\.$/);
  expect((await run('rebuild-listings')).stdout).toContain('deleted 3 stale entries');
  expect((await run('verify-store')).exitCode).toBe(0);
});

test('rebuild-listings moves the entries of release 0.1.0 into folders; no other command needs that', async () => {
  const records = await publishThree();
  for (const entry of records.map(listingEntryOf)) {
    await removeFromListings(dataDir.store, entry);
    for (const key of flatListingKeys(entry)) await dataDir.store.putIfAbsent(key, Buffer.alloc(0));
  }
  const keysOf = (keys: (entry: ListingEntry) => string[]) => records.map(listingEntryOf).flatMap(keys).sort();
  const allKeys = async () => {
    const lists = [listingPrefix(), 'by-user/'].map((prefix) => Array.fromAsync(listKeys(dataDir.store, prefix)));
    return (await Promise.all(lists)).flat().sort();
  };
  expect((await run('verify-store')).exitCode).toBe(0);
  expect((await run('sweep', '--yes')).stdout).toContain('missing from the listings: 0 found');
  expect((await run('show', records[0].id)).stdout).toMatch(/^listings +complete$/m);
  expect(await allKeys()).toEqual(keysOf(flatListingKeys));
  const listed = (await run('list')).stdout;
  expect((await run('rebuild-listings')).stdout).toBe(
    'Checked 3 uploads: added 3 to the listings, deleted 6 stale entries.',
  );
  expect(await allKeys()).toEqual(keysOf(listingKeys));
  expect((await run('list')).stdout).toBe(listed);
  expect((await run('verify-store')).exitCode).toBe(0);
});

test('blocks and unblocks users and applications, and lists blocks', async () => {
  expect((await run('blocks')).stdout).toBe('No blocked users or applications.');
  const ran = await run('block-user', provider, '12345');
  expect([ran.exitCode, auditOf(ran)]).toMatchObject([0, [{ action: 'block', ...ada }]]);
  await run('block-application', 'Birdsong');
  expect((await run('blocks')).lines.map((line) => line.slice(26))).toEqual([
    `user "12345" of "${provider}"`,
    'application "Birdsong"',
  ]);
  await run('unblock-user', provider, '12345');
  await run('unblock-application', 'Birdsong');
  expect((await run('blocks')).stdout).toBe('No blocked users or applications.');
});

test('rebuild-listings lists each published upload once', async () => {
  const [first, second, third] = await publishThree();
  await run('remove', second.id);
  for (const prefix of [listingPrefix(), 'by-user/'])
    for (const { key } of await dataDir.store.list(prefix, { limit: 9 })) await dataDir.store.remove(key);
  expect((await listNewest(dataDir.store, { limit: 9 })).records).toEqual([]);
  for (const added of [2, 0])
    expect((await run('rebuild-listings')).stdout).toBe(
      `Checked 2 uploads: added ${added} to the listings, deleted 0 stale entries.`,
    );
  expect((await listNewest(dataDir.store, { limit: 9 })).records).toEqual([third, first]);
  await dataDir.store.remove(recordKey(third.id));
  expect((await run('rebuild-listings')).stdout).toBe(
    'Checked 1 uploads: added 0 to the listings, deleted 2 stale entries.',
  );
});

import { Readable } from 'node:stream';
import { block, findBlock } from '@echodrop/archive/blocks';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import { beginResumable, publishSample } from '@echodrop/archive/publish-sample.fixture';
import { findRecord } from '@echodrop/archive/records';
import { removeMedia } from '@echodrop/archive/remove-media';
import { findResumable } from '@echodrop/archive/resumable-uploads';
import { newMediaKey, recordKey, resumablePrefixOf, userBlockKey } from '@echodrop/object-store/object-keys';
import { expect, test, vi } from 'vitest';
import { runCommand, runCommandProcess, useDataDir } from './admin.fixture.ts';
import { handOverAndReport } from './hand-over.ts';

const from = 'https://old.example/verify';
const to = 'https://new.example/verify';
const subject = '12345';

const dataDir = useDataDir();
const settings = () => ({ DATA_DIR: dataDir.folder });
const store = () => dataDir.store;
const run = (...args: string[]) => runCommand(['hand-over', from, to, ...args], settings());

test('counts, and with --yes hands over uploads, unfinished uploads and blocks', async () => {
  const first = await publishSample(store(), { provider: from, user: { id: 2n ** 63n, screenName: 'ada' } });
  const second = await publishSample(store(), { provider: from, subject: 'b' });
  const deleted = await publishSample(store(), { provider: from });
  await removeMedia(store(), deleted, { by: 'owner', at: new Date() });
  const other = await publishSample(store(), { provider: 'https://third.example/verify' });
  const { id: unfinished } = await beginResumable(store(), { provider: from });
  await block(store(), { kind: 'user', provider: from, subject: 'b' }, new Date());
  const what = `2 uploads, 1 resumable uploads and 1 blocks from ${from} to ${to}`;

  const counted = await run();
  expect(counted).toMatchObject({ exitCode: 0, stderr: '' });
  expect(counted.stdout).toBe(`Dry run: would hand over ${what}. Add --yes to hand them over.`);
  expect(await findRecord(store(), first.id)).toEqual(first);

  const ran = await runCommandProcess(['hand-over', from, to, '--yes', '--stopped'], settings());
  expect(ran).toMatchObject({ exitCode: 0, stdout: `Handed over ${what}.` });
  expect(JSON.parse(ran.stderr)).toMatchObject({ audit: true, action: 'hand-over', provider: from, newProvider: to });

  expect(await findRecord(store(), first.id)).toEqual({ ...first, provider: to });
  expect(await findRecord(store(), other.id)).toEqual(other);
  expect(await findRecord(store(), deleted.id)).toHaveProperty('removed');
  const { records } = await listNewest(store(), { owner: ownerHash({ provider: to, subject: 'b' }), limit: 9 });
  expect(records.map(({ id }) => id)).toEqual([second.id]);
  expect((await findResumable(store(), unfinished))?.state.provider).toBe(to);
  expect(await findBlock(store(), { kind: 'user', provider: to, subject: 'b' })).toBeDefined();
  expect((await runCommand(['list', from, subject], settings())).stdout).toBe('No uploads.');
  expect(await runCommand(['verify-store'], settings())).toMatchObject({ exitCode: 0 });

  const again = await run('--yes', '--stopped');
  expect(again.lines).toEqual([
    `Handed over 0 uploads, 0 resumable uploads and 0 blocks from ${from} to ${to}.`,
    `2 uploads are of ${to} already.`,
  ]);
});

test('goes on past what is unreadable, and exits with 1', async () => {
  const broken = await publishSample(store(), { provider: from, id: '0000000000' });
  const replace = (key: string) => store().put(key, Readable.from([Buffer.from('{}')]), { isReplacement: true });
  await replace(recordKey(broken.id));
  const fine = await publishSample(store(), { provider: from, id: 'zzzzzzzzzz' });
  const blockKey = userBlockKey('0'.repeat(32));
  await replace(blockKey);
  const state = newMediaKey();
  await replace(`${resumablePrefixOf(state)}0.json`);
  const ran = await run('--yes', '--stopped');
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain(`${broken.id}: record unreadable (not a record). Restore`);
  expect(ran.stdout).toContain(`${blockKey}: block unreadable (invalid block)`);
  expect(ran.stdout).toContain(`The state of the resumable upload ${state} is unreadable.`);
  expect(ran.stderr).toContain(`3 unreadable records, states or blocks stay. They may be of ${from}.`);
  expect(await findRecord(store(), fine.id)).toEqual({ ...fine, provider: to });
});

test.each([
  [[from, from], 'The addresses are the same.'],
  [[from, 'new.example'], 'must be an http(s) address'],
  [[from, `oidc ${to}`], 'must be an http(s) address'],
  [[from, `${to}=http://internal/verify`], 'must be an http(s) address'],
  [[from], 'missing required argument'],
])('refuses %j as usage error', async (args, message) => {
  const ran = await runCommand(['hand-over', ...args, '--yes', '--stopped'], { DATA_DIR: dataDir.folder });
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
});

test('says what to compare if there is nothing', async () => {
  const { stdout } = await runCommand(['hand-over', from, to], { DATA_DIR: dataDir.folder });
  expect(stdout).toContain('Compare the addresses with the providers in the output of `admin list`.');
});

test('hands over resumable uploads of a store without conditional writes only if all is stopped', async () => {
  const upload = await beginResumable(store(), { provider: from });
  vi.spyOn(store(), 'probe').mockResolvedValue({ ...(await store().probe()), hasConditionalWrites: false });
  const run = (isStopped: boolean) =>
    Array.fromAsync(handOverAndReport(store(), { from, to, dryRun: false, isStopped, audit() {} }));
  expect(await run(false)).toEqual([
    `${upload.id}: resumable upload stays, because the store has no conditional writes. Stop the whole system, and run this again with --stopped.`,
    `Handed over 0 uploads, 0 resumable uploads and 0 blocks from ${from} to ${to}.`,
  ]);
  expect(await findResumable(store(), upload.id)).toEqual(upload);
  expect(await run(true)).toEqual([expect.stringContaining(' 1 resumable uploads ')]);
  expect((await findResumable(store(), upload.id))?.state).toEqual({ ...upload.state, provider: to });
});

import { join } from 'node:path';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { startHabitProxy } from '@echodrop/testkit/servers/habit-proxy';
import { type Habit, leastCapable } from '@echodrop/testkit/servers/habits';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand, runCommandProcess, useDataDir } from './admin.fixture.ts';

/** What the command says of each habit, beside what it says of MinIO. */
const sayings: Record<Habit, string | undefined> = {
  'ignores conditions': 'note   The store ignores or refuses conditional writes',
  'refuses conditions': 'note   The store ignores or refuses conditional writes',
  conflicts: 'note   The store refuses one of two concurrent writes of an object with 409',
  'refuses second writes': 'note   The store refuses a second write of an object within a second',
  'refuses checksums': 'note   The store refuses CRC-32 checksums, or does not verify them',
  'ignores checksums': 'note   The store verifies no checksums: the tag of each write is compared',
  'calls a wrong checksum a bad request': 'note   The store gives another reason than a checksum',
  'wants equal parts': 'note   The store refuses parts of different sizes',
  'joins checksums': undefined,
  'changes tags': 'note   The store changes the tags of multipart uploads',
  'has no empty lists': 'note   The store responds with NoSuchUpload',
  'joins replaced parts':
    'note   The store completes a multipart upload although a part was replaced: its response shows it',
  'keeps replaced parts': 'note   The store keeps a part that was replaced',
};

describeWithMinio('store-test', {}, (start) => {
  const parts = new AsyncDisposableStack();
  let minio: RunningMinio;
  beforeAll(async () => {
    minio = parts.use(await start());
  });
  afterAll(() => parts.disposeAsync());

  const examine = (settings: Record<string, string> = {}) =>
    runCommand(['store-test'], { ...minio.settings, OBJECT_STORE: 's3', ...settings });

  test('finds nothing wrong with MinIO, and leaves nothing behind', async () => {
    const settings = { ...minio.settings, OBJECT_STORE: 's3' };
    const { exitCode, lines, stderr } = await runCommandProcess(['store-test'], settings);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(lines).toHaveLength(9);
    const verified = await runCommandProcess(['verify-store'], settings);
    expect(verified.stdout).not.toMatch(/media\/[0-9a-f]{32}/);
  });

  test.each(Object.entries(sayings))('names a store that %s', async (habit, saying) => {
    await using proxy = await startHabitProxy(minio, [habit as Habit]);
    const { exitCode, lines } = await examine({ S3_ENDPOINT: proxy.endpoint });
    expect(exitCode).toBe(0);
    const notes = lines.filter((line) => line.startsWith('note'));
    expect(notes).toEqual(saying === undefined ? [] : [expect.stringContaining(saying)]);
  });

  test('says what follows of a store that lacks everything', async () => {
    await using proxy = await startHabitProxy(minio, leastCapable);
    const { exitCode, lines } = await examine({ S3_ENDPOINT: proxy.endpoint });
    expect([exitCode, lines.filter((line) => line.startsWith('note')).length]).toEqual([0, 5]);
  });

  test.each([
    ['a wrong key', { S3_SECRET_KEY: 'wrong' }, /wrong {2}The store cannot be used: object store responded with 403/],
    ['no store', { S3_ENDPOINT: 'http://127.0.0.1:9' }, /wrong {2}The store cannot be used: .*ECONNREFUSED/],
  ])('with %s, exits 1 and says why', async (_, settings, reason) => {
    const { exitCode, stdout, stderr } = await examine(settings);
    expect(stdout).toMatch(reason);
    expect([exitCode, stderr]).toEqual([1, 'The store test found faults.']);
  });
});

const dataDir = useDataDir();

test('store-test finds nothing wrong with a folder', async () => {
  const settings = { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: join(dataDir.folder, 'store') };
  const { exitCode, lines } = await runCommand(['store-test'], settings);
  expect([exitCode, lines.filter((line) => !line.startsWith('ok '))]).toEqual([0, []]);
});

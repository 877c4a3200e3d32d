import { join } from 'node:path';
import { startHabitProxy } from '@echodrop/object-store/habit-proxy.fixture';
import { type Fault, type Habit, leastCapable } from '@echodrop/object-store/habits.fixture';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statusOf } from '../../../deploy/store/minio-root.fixture.ts';
import { runCommand, runCommandProcess, useDataDir } from './admin.fixture.ts';

/** What the command says of each habit, beside what it says of MinIO. */
const sayings: Record<Habit, string | undefined> = {
  'ignores conditions': 'note   The store ignores or refuses conditional writes',
  'refuses conditions': 'note   The store ignores or refuses conditional writes',
  'conditions get 405': 'note   The store ignores or refuses conditional writes',
  'conditions get 422': 'note   The store ignores or refuses conditional writes',
  'replaces objects by nothing': 'note   The store ignores or refuses conditional writes',
  'replaces joined objects': 'note   The store ignores or refuses conditional writes',
  'conflicts show refused bytes': 'note   The store ignores or refuses conditional writes',
  conflicts: 'note   The store refuses one of two concurrent writes of an object with 409',
  'refuses second writes': 'note   The store refuses a second write of an object within a second',
  'refuses concurrent writes': 'note   The store refuses a second write of an object within a second',
  'refuses checksums': 'note   The store refuses CRC-32 checksums, or does not verify them',
  'refuses announced checksums': 'note   The store refuses CRC-32 checksums, or does not verify them',
  'confirms no checksums of parts': 'note   The store refuses CRC-32 checksums, or does not verify them',
  'refuses checksums in completions': 'note   The store refuses CRC-32 checksums, or does not verify them',
  'ignores checksums': 'note   The store verifies no checksums: the tag of each write is compared',
  'calls a wrong checksum a bad request': 'note   The store gives another reason than a checksum',
  'wants equal parts': 'note   The store refuses parts of different sizes',
  'joins checksums': undefined,
  'hides joined checksums': undefined,
  'changes tags': 'note   The store changes the tags of multipart uploads',
  'has no empty lists': 'note   The store responds with NoSuchUpload',
  'joins replaced parts':
    'note   The store completes a multipart upload although a part was replaced: its response shows it',
  'keeps replaced parts': 'note   The store keeps a part that was replaced',
  'lists late': 'note   New objects are missing in lists for a moment',
  'removals get 200': undefined,
  'refuses needless parameters': undefined,
};

const reasons: Partial<Record<Fault, string>> = {
  'ignores ranges': 'Probing the store failed: object store returns another range',
  'has another time': 'Probing the store failed: object store has another time',
  'responds with 304 to a write': 'Probing the store failed: object store responds to a conditional write',
  'refuses reads of media': 'Reading an object failed: object store responded with 403',
  'refuses lists': 'Listing objects failed: object store responded with 403 AccessDenied',
  'lists from the beginning': 'Listing objects failed: object store sent an invalid list',
  'lists no folders': 'Lists with a delimiter do not name each folder once',
  'refuses the highest character': 'Listing folders failed: object store responded with 400 InvalidArgument',
  'lists one page': 'Probing the store failed: object store does not send the next page of a list',
  'conditions get 403':
    'Probing the store failed: object store refuses a conditional write: object store responded with 403',
  'refuses empty objects':
    'Probing the store failed: object store refuses an empty object: object store responded with 411',
  'refuses completions':
    'Probing the store failed: object store refuses a multipart upload: object store responded with 403',
  'refuses several parts':
    'Probing the store failed: object store refuses a multipart upload: object store responded with 400',
  'changes bytes': 'Writing an object failed: object store responded with 400',
  'refuses removals': 'Removing an object failed: object store responded with 403 AccessDenied',
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
    expect(lines).toHaveLength(11);
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

  test.each(Object.entries(reasons))('cannot use a store that %s', async (fault, reason) => {
    await using proxy = await startHabitProxy(minio, [fault as Fault]);
    const { exitCode, lines } = await examine({ S3_ENDPOINT: proxy.endpoint });
    expect(exitCode).toBe(1);
    expect(lines.at(-1)).toContain(`wrong  ${reason}`);
  });

  test('notes that a bucket keeps versions', async () => {
    await using versioned = await start();
    const settings = { ...versioned.settings, OBJECT_STORE: 's3' };
    await runCommand(['store-test'], settings);
    const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    const path = `/${versioned.bucket}`;
    expect(await statusOf(versioned, versioned, 'PUT', path, { query: 'versioning=', body })).toBe(200);
    const { exitCode, lines } = await runCommand(['store-test'], settings);
    expect([exitCode, lines.filter((line) => line.startsWith('note'))]).toEqual([
      0,
      [expect.stringContaining('keeps versions')],
    ]);
  });

  test('says what follows of a store that lacks everything', async () => {
    await using proxy = await startHabitProxy(minio, leastCapable);
    const { exitCode, lines } = await examine({ S3_ENDPOINT: proxy.endpoint });
    expect([exitCode, lines.filter((line) => line.startsWith('note')).length]).toEqual([0, 5]);
  });

  test.each<[string, () => Record<string, string>, RegExp]>([
    [
      'a wrong key',
      () => ({ S3_SECRET_KEY: 'wrong' }),
      /wrong {2}Reaching the bucket or folder failed: .*403 SignatureDoesNotMatch: check S3_SECRET_KEY, or a proxy that changes Host$/m,
    ],
    [
      'no store',
      () => ({ S3_ENDPOINT: 'http://127.0.0.1:9' }),
      /wrong {2}Reaching the bucket or folder failed: .*ECONNREFUSED/,
    ],
    [
      'https for http',
      () => ({ S3_ENDPOINT: minio.endpoint.replace('http:', 'https:') }),
      /wrong {2}Reaching .* failed: .*ERR_SSL_\w+: check S3_ENDPOINT$/m,
    ],
  ])('with %s, exits 1 and says why', async (_, settings, reason) => {
    const { exitCode, stdout, stderr } = await examine(settings());
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

import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describeWithMinioProgram } from '@echodrop/testkit/servers/describe-with-minio';
import { startMinioSet } from '@echodrop/testkit/servers/start-minio';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { listObjects } from '../list-objects.ts';
import type { ObjectStore } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import { bytesAt } from '../sources.fixture.ts';
import { minioStore } from './minio-store.fixture.ts';

describeWithMinioProgram('a MinIO of four nodes', (program) => {
  test('reads, writes, lists and decides conflicts while one node is down, and through that node after its restart', async () => {
    await using set = await startMinioSet(program);
    await using parts = new AsyncDisposableStack();
    const [first, second, , last] = set.nodes.map((node) => parts.use(minioStore(node))) as [
      ObjectStore,
      ObjectStore,
      ObjectStore,
      ObjectStore,
    ];
    const bytes = randomBytes(2 * partBytes + 1);
    // Nodes that have just started, or lost a peer, may refuse writes for a moment (503 SlowDownWrite).
    await waitUntil('the bucket', () => first.ready().then(() => true));
    const put = (store: ObjectStore, name: string) =>
      store.put(`media/${name}`, Readable.from([bytes])).then(() => true);
    await waitUntil('a first write', () => put(first, 'before'));
    await set.nodes[3]?.server.kill();
    for (const store of [first, second]) await waitUntil('a write', () => put(store, 'meanwhile'));
    const claims = await Promise.all([first, second].map((store) => store.putIfAbsent('records/a', Buffer.from('{}'))));
    expect(claims.sort()).toEqual(['created', 'exists']);
    for (const key of ['media/before', 'media/meanwhile'])
      expect((await bytesAt(second, key))?.equals(bytes)).toBe(true);
    expect(await keysIn(second)).toEqual(['media/before', 'media/meanwhile']);
    await set.nodes[3]?.server.restart();
    // For a second or two, the node lists objects that it does not find.
    await waitUntil('the bytes', async () => (await bytesAt(last, 'media/meanwhile'))?.equals(bytes) === true);
    expect(await keysIn(last)).toEqual(['media/before', 'media/meanwhile']);
  });
});

function keysIn(store: ObjectStore): Promise<string[]> {
  return Array.fromAsync(listObjects(store, 'media/'), ({ key }) => key);
}

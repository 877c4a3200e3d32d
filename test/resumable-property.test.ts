import { createHash, randomBytes } from 'node:crypto';
import { clockedStore, TestClock } from '@echodrop/archive/clocked-store.fixture';
import { listResumables } from '@echodrop/archive/resumable-uploads';
import { sweep } from '@echodrop/archive/sweep';
import { listObjects } from '@echodrop/object-store/list-objects';
import { mediaPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { minioStore } from '@echodrop/object-store/s3/minio-store.fixture';
import { bytesAt } from '@echodrop/object-store/sources.fixture';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { base64, patchAndCut, patchTus, sendTus, tusMetadata } from '@echodrop/testkit/tus-requests';
import { waitUntil } from '@echodrop/testkit/wait-until';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MiB = 2 ** 20;
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 6);
const hourMs = 3_600_000;

// Smaller than a part of S3, about as large, and larger.
const someBytes = fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 7 * MiB }));
const gateway = fc.nat({ max: 1 });
// The lease of a killed gateway lasts 15 s, so few are killed.
const kinds = ['piece', 'cut', 'twice', 'wrong offset', 'wrong checksum'] as const;
const kind = fc.oneof({ arbitrary: fc.constantFrom(...kinds), weight: 9 }, fc.constant('kill' as const));
const aStep = fc.record({ kind, gateway, bytes: someBytes });
const anUpload = fc.record({
  size: fc.integer({ min: 1000, max: 12 * MiB }),
  creation: fc.constantFrom('of a known length', 'of a deferred length', 'with bytes'),
  steps: fc.array(aStep, { maxLength: 8 }),
  end: fc.constantFrom('finished', 'finished', 'abandoned', 'terminated'),
});

type Step = typeof aStep extends fc.Arbitrary<infer S> ? S : never;
type Upload = typeof anUpload extends fc.Arbitrary<infer U> ? U : never;

describeWithMinio('resumable uploads of random pieces', {}, (startMinio) => {
  const parts = new AsyncDisposableStack();
  let stacks: readonly [Stack, Stack];
  let store: ObjectStore;
  let photo: Buffer;

  beforeAll(async () => {
    const minio = parts.use(await startMinio());
    const { settings } = minio;
    const first = parts.use(await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'], settings }));
    stacks = [first, parts.use(await startStack({ beside: first, services: ['gateway'], settings }))];
    store = parts.use(minioStore(minio));
    photo = await samplePhoto('jpg', { width: 64, height: 48 });
  });
  afterAll(() => parts.disposeAsync());

  test('with cut connections, wrong requests, concurrent writers, killed gateways and terminations: each is published with its bytes or not at all, and the sweep leaves nothing else', {
    timeout: numRuns * 60_000,
  }, async () => {
    const published = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(anUpload, async ({ size, creation, steps, end }) => {
        const media = Buffer.concat([photo, randomBytes(size)]);
        const path = await create(creation, media);
        for (const step of steps) await take(step, path, media);
        await offsetOf(path);
        if (end === 'finished') await finish(path, media);
        const termination = end === 'terminated' ? (await sendTus(stacks[0], 'DELETE', path)).status : undefined;
        const { status, text } = await sendTus(stacks[0], 'GET', path);
        const hasEnded = termination === 204;
        if (status === 200) published.set(JSON.parse(text).id, sha256(media));
        else expect({ end, hasEnded, status }).toEqual(unpublished(end));
      }),
      { numRuns, endOnFailure: true },
    );
    const clock = new TestClock(store);
    await clock.advance(25);
    const options = { olderThanMs: 24 * hourMs, dryRun: false };
    await sweep(clockedStore(store, clock), { ...options, force: true });
    expect(await Array.fromAsync(listResumables(store))).toEqual([]);
    expect(await Array.fromAsync(store.listUnfinishedWrites())).toEqual([]);
    const stored = await Array.fromAsync(listObjects(store, mediaPrefix), async ({ key }) =>
      sha256((await bytesAt(store, key)) ?? Buffer.alloc(0)),
    );
    expect(stored.toSorted()).toEqual([...published.values()].toSorted());
  });

  const unpublished = (end: string) =>
    end === 'terminated' ? { end, hasEnded: true, status: 404 } : { end: 'abandoned', hasEnded: false, status: 409 };

  async function create(creation: Upload['creation'], media: Buffer): Promise<string> {
    const isDeferred = creation === 'of a deferred length';
    const hasBytes = creation === 'with bytes';
    const headers = {
      'Upload-Metadata': tusMetadata(),
      [isDeferred ? 'Upload-Defer-Length' : 'Upload-Length']: isDeferred ? '1' : `${media.length}`,
      ...(hasBytes && { 'Content-Type': 'application/offset+octet-stream' }),
    };
    const response = await sendTus(
      stacks[0],
      'POST',
      '/files/',
      headers,
      hasBytes ? media.subarray(0, 900) : undefined,
    );
    return response.headers.get('location') ?? '';
  }

  async function take({ kind, gateway: index, bytes }: Step, path: string, media: Buffer): Promise<void> {
    const stack = stacks[index] ?? stacks[0];
    const offset = await offsetOf(path);
    const piece = media.subarray(offset, offset + bytes);
    const other = randomBytes(Math.min(bytes, 1000));
    if (kind === 'piece') await patchTus(stack, path, offset, piece);
    if (kind === 'kill')
      await Promise.all([patchTus(stack, path, offset, piece).catch(() => {}), stack.services.gateway.restart()]);
    if (kind === 'cut') await patchAndCut(stack, path, offset, piece);
    if (kind === 'twice') await Promise.all(stacks.map((each) => patchTus(each, path, offset, piece)));
    if (kind === 'wrong offset') await patchTus(stack, path, offset + 1, other);
    if (kind === 'wrong checksum')
      await patchTus(stack, path, offset, other, { 'Upload-Checksum': `sha1 ${base64('wrong')}` });
  }

  async function finish(path: string, media: Buffer): Promise<void> {
    await waitUntil('the record', async () => {
      const offset = await offsetOf(path);
      const { headers } = await sendTus(stacks[1], 'HEAD', path);
      const length = headers.has('upload-defer-length') ? { 'Upload-Length': `${media.length}` } : undefined;
      const { status, headers: received } = await patchTus(stacks[1], path, offset, media.subarray(offset), length);
      return status === 204 && received.has('record-location');
    });
  }

  /** The offset, once no request of a dead gateway or connection has the upload. */
  async function offsetOf(path: string): Promise<number> {
    let offset = Number.NaN;
    await waitUntil('the offset', async () => {
      const { status, headers } = await sendTus(stacks[0], 'HEAD', path);
      offset = Number(headers.get('upload-offset'));
      return status === 200;
    });
    return offset;
  }
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

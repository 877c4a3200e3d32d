import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ProbeClient, probeHeadBytes } from '@echodrop/contracts/probe';
import type { MediaType } from '@echodrop/media/detect-media-type';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { queueSecrets, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const parts = new AsyncDisposableStack();
let folder: string;
let stack: Stack;
let client: ProbeClient;

beforeAll(async () => {
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'probe-worker-test-'))).path;
  stack = parts.use(await startStack({ services: ['probe-worker'], settings: { OBJECT_STORE_DIR: folder } }));
  client = parts.use(new ProbeClient(queueOptionsFor(stack.redis.url, queueSecrets.PROBE_QUEUE_SECRET)));
  await waitUntil('a connection', () => client.ready().then(() => true));
});
afterAll(() => parts.disposeAsync());

async function store(bytes: Buffer, mediaKey = newMediaKey()): Promise<string> {
  await new FilesystemObjectStore(folder).put(mediaObjectKey(mediaKey), Readable.from([bytes]));
  return mediaKey;
}

function probe(mediaKey: string, bytes: Buffer, type: MediaType) {
  const request = { mediaKey, size: bytes.length, head: bytes.subarray(0, probeHeadBytes) };
  return client.probe(request, type, { owner: mediaKey, deadlineMs: patienceMs, signal: patientSignal() });
}

test('probes a photo using the head in the job', async () => {
  const bytes = await samplePhoto('jpg', { width: 322, height: 124 });
  const neverStored = newMediaKey();
  expect(await probe(neverStored, bytes, 'jpg')).toMatchObject({
    outcome: 'media',
    type: 'jpg',
    width: 322,
    height: 124,
  });
});

test('reads ranges of a video from the store', async () => {
  const bytes = await sampleVideo('mp4', { width: 640, height: 360, seconds: 5 });
  expect(bytes.length).toBeGreaterThan(200_000);
  expect(await probe(await store(bytes), bytes, 'mp4')).toMatchObject({
    outcome: 'media',
    type: 'mp4',
    width: 640,
    height: 360,
  });
  const metrics = await stack.metrics('probe-worker');
  const [, read] = /echodrop_probe_read_bytes_sum{[^}]*outcome="supported"[^}]*} (\d+)/.exec(metrics) ?? [];
  expect(Number(read)).toBeGreaterThan(0);
  expect(Number(read)).toBeLessThan(bytes.length / 2);
});

test('waits for media that the store does not find yet', async () => {
  const bytes = await sampleVideo('mp4', { width: 640, height: 360 });
  const mediaKey = newMediaKey();
  const reply = probe(mediaKey, bytes, 'mp4');
  const absent = /echodrop_store_call_seconds_count{[^}]*operation="read",outcome="absent"} [1-9]/;
  await expect.poll(() => stack.metrics('probe-worker')).toMatch(absent);
  await store(bytes, mediaKey);
  expect(await reply).toMatchObject({ outcome: 'media', type: 'mp4' });
});

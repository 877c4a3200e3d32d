import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ProbeClient, probeHeadBytes } from '@echodrop/contracts/probe';
import type { MediaType } from '@echodrop/media/detect-media-type';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { queueOptionsFor, RedisView } from '@echodrop/queue/queue.fixture';
import { type HostileFfprobe, hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { patienceMs } from '@echodrop/testkit/patience';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { queueSecrets, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

// What ffprobe may do is in run-tool.integration.test.ts. It hangs on videos of these sizes in bytes, and others run the real one.
const scripted = `
[ "$1" = -version ] && echo "ffprobe version 5.1.9-0+test Copyright" && exit 0
for video; do :; done
size=$(stat -c %s "\${video#file:}" 2> /dev/null)
case $size in
70001|70002) mkdir "$folder/look-at-$size-$(date +%s%N)"; sleep 600 ;;
*) PATH=\${PATH#*:} exec ffprobe "$@" ;;
esac`;

const parts = new AsyncDisposableStack();
let ffprobe: HostileFfprobe;
let stack: Stack;
let client: ProbeClient;

beforeAll(async () => {
  ffprobe = parts.use(await hostileFfprobe(scripted));
  // The full sandbox forbids a shell script to start programs.
  const env = {
    PATH: ffprobe.path,
    MEDIA_SANDBOX: 'limits-only',
    MEDIA_TYPES_OFF: 'avif, heic',
    LOG_LEVEL: 'info',
  };
  stack = parts.use(await startStack({ services: ['probe-worker'], of: { 'probe-worker': env } }));
  client = parts.use(new ProbeClient(queueOptionsFor(stack.redis.url, queueSecrets.PROBE_QUEUE_SECRET)));
  await waitUntil('a connection', () => client.ready().then(() => true));
});
afterAll(() => parts.disposeAsync());

async function store(bytes: Buffer, mediaKey = newMediaKey()): Promise<string> {
  await new FilesystemObjectStore(`${stack.folder}/store`).put(mediaObjectKey(mediaKey), Readable.from([bytes]));
  return mediaKey;
}

function probeStored(mediaKey: string, bytes: Buffer, type: MediaType, deadlineMs = patienceMs) {
  const request = { mediaKey, size: bytes.length, head: bytes.subarray(0, probeHeadBytes) };
  return client.probe(request, type, { owner: mediaKey, deadlineMs, signal: AbortSignal.timeout(deadlineMs) });
}

async function probe(bytes: Buffer, type: MediaType, deadlineMs?: number) {
  return probeStored(await store(bytes), bytes, type, deadlineMs);
}

/** An FLV of this size, because any bytes may follow its video. */
async function videoOf(bytes: number): Promise<Buffer> {
  const video = await sampleVideo('flv', { width: 64, height: 48, sound: false });
  return Buffer.concat([video, Buffer.alloc(bytes - video.length)]);
}

/** The scratch folders of running and dead probe-workers, with their contents. */
async function scratchFolders(): Promise<Map<string, string[]>> {
  const names = (await readdir(stack.folder)).filter((name) => name.startsWith('probe-worker-'));
  const folders = names.map((name) => join(stack.folder, name));
  return new Map(await Promise.all(folders.map(async (folder) => [folder, await readdir(folder)] as const)));
}

const countRuns = async (size: number) =>
  (await readdir(ffprobe.folder)).filter((name) => name.startsWith(`look-at-${size}`)).length;

/** Locks the job of a dead worker until its release: until then, no worker takes it over. */
async function lockJob() {
  using view = new RedisView(stack.redis.url);
  const active = await view.jobs('probe-films', 'active');
  expect(active).toHaveLength(1);
  const key = view.key('probe-films', `${active[0]}:lock`);
  await view.redis.set(key, 'locked by a test');
  const release = async () => {
    using view = new RedisView(stack.redis.url);
    await view.redis.del(key);
  };
  return { release };
}

test('probes a photo using the head in the job', async () => {
  const bytes = await samplePhoto('jpg', { width: 322, height: 124 });
  expect(await probeStored(newMediaKey(), bytes, 'jpg')).toMatchObject({ type: 'jpg', width: 322, height: 124 });
});

// Before other tests, whose probes read too.
test('reads ranges of a video from the store', async () => {
  const bytes = await sampleVideo('mp4', { width: 640, height: 360, seconds: 5 });
  expect(bytes.length).toBeGreaterThan(200_000);
  expect(await probe(bytes, 'mp4')).toMatchObject({ type: 'mp4', width: 640, height: 360 });
  const metrics = await stack.metrics('probe-worker');
  const [, read] = /echodrop_probe_read_bytes_sum{[^}]*outcome="supported"[^}]*} (\d+)/.exec(metrics) ?? [];
  expect(Number(read)).toBeGreaterThan(0);
  expect(Number(read)).toBeLessThan(bytes.length / 2);
});

test('waits for media that the store does not find yet', async () => {
  const bytes = await sampleVideo('mp4', { width: 640, height: 360 });
  const mediaKey = newMediaKey();
  const reply = probeStored(mediaKey, bytes, 'mp4');
  const absent = /echodrop_store_call_seconds_count{[^}]*operation="read",outcome="absent"} [1-9]/;
  await expect.poll(() => stack.metrics('probe-worker')).toMatch(absent);
  await store(bytes, mediaKey);
  expect(await reply).toMatchObject({ outcome: 'media', type: 'mp4' });
});

const valid = { outcome: 'media', type: 'flv', width: 64, height: 48 };

test('a video that kills its worker twice fails permanently, and does not delay others', async () => {
  const worker = stack.services['probe-worker'];
  const deadly = probe(await videoOf(70_001), 'flv', 2 * patienceMs);
  for (const times of [1, 2]) {
    await waitUntil(`run ${times} of ffprobe`, async () => (await countRuns(70_001)) === times);
    await worker.kill();
    for (const [folder, videos] of await scratchFolders()) {
      expect(videos).toEqual([expect.stringMatching(/^video-/)]);
      await utimes(folder, 0, 0);
    }
    await ffprobe.allEnded();
    const lock = await lockJob();
    await worker.restart();
    expect(await probe(await videoOf(60_000), 'flv')).toMatchObject(valid);
    expect(await probe(await samplePhoto('png', { width: 30, height: 20 }), 'png')).toMatchObject({ width: 30 });
    expect(await countRuns(70_001)).toBe(times);
    await lock.release();
  }
  expect(await deadly).toEqual({ outcome: 'unsupported', why: 'too_costly' });
  expect(await probe(await videoOf(60_000), 'flv')).toMatchObject(valid);
  expect(await countRuns(70_001)).toBe(2);
  expect([...(await scratchFolders()).values()]).toEqual([[]]);
  const logged = () => worker.output.split('\n').filter((line) => line.includes('more than allowable limit'));
  await expect
    .poll(() => logged().map((line) => JSON.parse(line)))
    .toMatchObject([{ level: 'error', mediaKey: expect.any(String) }]);
});

test('completes the next job while ffprobe hangs', async () => {
  const hanging = probe(await videoOf(70_002), 'flv').catch((error: Error) => error.name);
  expect(await probe(await videoOf(60_000), 'flv')).toMatchObject(valid);
  expect(await hanging).not.toMatchObject({ outcome: 'media' });
  await ffprobe.allEnded();
  expect([...(await scratchFolders()).values()]).toEqual([[]]);
});

test('refuses only types that are turned off', async () => {
  const size = { width: 30, height: 20 };
  expect(await probe(await samplePhoto('avif', size), 'avif')).toEqual({ outcome: 'unsupported', why: 'type_off' });
  expect(await probe(await samplePhoto('png', size), 'png')).toMatchObject({ outcome: 'media', type: 'png' });
});

test('logs the versions of its media tools at start', () => {
  const lines = stack.services['probe-worker'].output.split('\n');
  const logged = lines.find((line) => line.includes('Media tool versions')) ?? '';
  expect(JSON.parse(logged)).toMatchObject({ level: 'info', tools: { ffprobe: '5.1.9-0+test' } });
});

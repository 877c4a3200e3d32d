import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { RenditionClient } from '@echodrop/contracts/rendition';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { queueSecrets, startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';

test('records in the store that media killed two workers', async () => {
  // In limits-only mode, a tool can kill its worker. It waits until the worker has started.
  const script = `[ "$1" = -version ] && exit
until rmdir "$folder/may-kill"; do sleep 0.05; done 2> /dev/null
kill -9 $PPID
exec sleep 600`;
  await using ffmpeg = await hostileFfprobe(script, 'ffmpeg');
  const settings = { PATH: ffmpeg.path, MEDIA_SANDBOX: 'limits-only' };
  await using stack = await startStack({ services: ['rendition-worker'], settings });
  const worker = stack.services['rendition-worker'];
  await using store = new FilesystemObjectStore(join(stack.folder, 'store'));
  const mediaKey = newMediaKey();
  await store.put(mediaObjectKey(mediaKey), Readable.from([await sampleVideo('avi', { width: 64, height: 48 })]));
  await using client = new RenditionClient(queueOptionsFor(stack.redis.url, queueSecrets.RENDITION_QUEUE_SECRET));
  await waitUntil('a job', () => client.enqueue({ mediaKey, type: 'avi' }).then(() => true));
  for (let deaths = 1; deaths <= 2; deaths += 1) {
    await mkdir(join(ffmpeg.folder, 'may-kill'));
    await waitUntil('the worker to die', async () => !(await isUp(stack.ops('rendition-worker'))));
    await worker.restart();
  }
  const markersOf = () => readdir(join(stack.folder, 'store/objects/renditions', mediaKey)).catch(() => []);
  await expect.poll(markersOf).toContainEqual(expect.stringMatching(/^film-.*\.suspected-/));
  expect(await isUp(stack.ops('rendition-worker'))).toBe(true);
  for (const missing of ['picture', 'video']) {
    const count = new RegExp(`^echodrop_media_not_shown_total\\{.*missing="${missing}",outcome="failed".*\\} 1$`, 'm');
    await expect.poll(() => stack.metrics('rendition-worker')).toMatch(count);
  }
});

function isUp(ops: string): Promise<boolean> {
  return fetch(`${ops}/livez`).then(
    ({ ok }) => ok,
    () => false,
  );
}

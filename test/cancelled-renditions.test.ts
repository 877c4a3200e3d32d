import { adminOf } from '@echodrop/testkit/admin-of';
import { type HostileFfprobe, hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const parts = new AsyncDisposableStack();
let ffmpeg: HostileFfprobe;
let stack: Stack;
let video: Buffer;
let slowVideo: Buffer;

beforeAll(async () => {
  video = await sampleVideo('avi', { width: 64, height: 48 });
  // A few frames with a duration of hours.
  const options = ['-vf', 'setpts=8000*PTS', '-fps_mode', 'vfr'];
  slowVideo = await sampleVideo('mp4', { width: 64, height: 48, sound: false, options });
  ffmpeg = parts.use(await hostileFfprobe('[ "$1" = -version ] || exec sleep 600', 'ffmpeg'));
  // The full sandbox forbids a shell script to start programs.
  const worker = { PATH: ffmpeg.path, MEDIA_SANDBOX: 'limits-only' };
  stack = parts.use(await startStack({ of: { 'rendition-worker': worker } }));
});
afterAll(() => parts.disposeAsync());

/** Uploads a video and waits until ffmpeg processes it. */
async function uploadUntilRendering(media = video): Promise<string> {
  const before = await ffmpeg.started();
  const { status, text } = await upload(stack, { media });
  expect(status).toBe(200);
  await waitUntil('a run of ffmpeg', async () => (await ffmpeg.started()) > before);
  return JSON.parse(text).id;
}

async function removeAsUser(id: string): Promise<void> {
  const options = { method: 'DELETE', headers: echoHeaders(stack) };
  expect((await fetch(`${stack.gateway}/2/media/${id}`, options)).status).toBe(204);
}

test('a user who deletes a video in the slow lane cancels its renditions', async () => {
  const id = await uploadUntilRendering(slowVideo);
  await expect
    .poll(() => stack.metrics('rendition-worker'))
    .toMatch(/^echodrop_rendition_work_seconds_count\{.*outcome="deferred".*\} 1$/m);
  await removeAsUser(id);
  await ffmpeg.allEnded();
});

test('an operator who removes a video, or blocks its user, cancels its renditions', async () => {
  const id = await uploadUntilRendering();
  await adminOf(stack, 'remove', id);
  await ffmpeg.allEnded();
  await uploadUntilRendering();
  await adminOf(stack, 'block-user', stack.provider, `${sandbox.userId}`);
  await ffmpeg.allEnded();
  await waitUntil('the end of the job', async () =>
    /^echodrop_renditions_total\{.*"unsupported".*\} 1$/m.test(await stack.metrics('rendition-worker')),
  );
});

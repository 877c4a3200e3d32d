import { adminOf } from '@echodrop/testkit/admin-of';
import { type HostileFfprobe, hostileFfprobe } from '@echodrop/testkit/hostile-ffprobe';
import { sampleFilm } from '@echodrop/testkit/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

const parts = new AsyncDisposableStack();
let ffmpeg: HostileFfprobe;
let stack: Stack;
let film: Buffer;

beforeAll(async () => {
  film = await sampleFilm('avi', { width: 64, height: 48 });
  ffmpeg = parts.use(await hostileFfprobe('[ "$1" = -version ] || exec sleep 600', 'ffmpeg'));
  // A script starts other programs.
  const worker = { PATH: ffmpeg.path, MEDIA_SANDBOX: 'limits-only' };
  stack = parts.use(await startStack({ of: { 'rendition-worker': worker } }));
});
afterAll(() => parts.disposeAsync());

/** Uploads a video, and waits until ffmpeg runs for it. */
async function uploadedAndBegun(): Promise<string> {
  const before = await ffmpeg.started();
  const { status, text } = await upload(stack, { media: film });
  expect(status).toBe(200);
  await waitUntil('a run of ffmpeg', 10_000, async () => (await ffmpeg.started()) > before);
  return JSON.parse(text).id;
}

test('a user who removes a video ends the making of its renditions', async () => {
  const id = await uploadedAndBegun();
  const options = { method: 'DELETE', headers: echoHeaders(stack) };
  expect((await fetch(`${stack.gateway}/2/media/${id}`, options)).status).toBe(204);
  await ffmpeg.allEnded(5000);
}, 30_000);

test('so does an operator who removes it, and one who blocks its user', async () => {
  const id = await uploadedAndBegun();
  await adminOf(stack, 'remove', id);
  await ffmpeg.allEnded(5000);
  await uploadedAndBegun();
  await adminOf(stack, 'block-user', stack.provider, `${sandbox.userId}`);
  await ffmpeg.allEnded(5000);
}, 60_000);

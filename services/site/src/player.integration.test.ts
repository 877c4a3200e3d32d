import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample } from './publish-sample.fixture.ts';
import { readHtml } from './readers.fixture.ts';

const parts = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;

beforeAll(async () => {
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'player-test-')));
  store = parts.use(new FilesystemObjectStore(path));
  const settings = { OBJECT_STORE_DIR: path, ABUSE_CONTACT: 'mailto:abuse@pictures.example' };
  stack = parts.use(await startStack({ services: ['site', 'rendition-worker'], settings }));
});
afterAll(() => parts.disposeAsync());

const get = (path: string) => fetch(stack.site + path);

async function publishVideo(): Promise<string> {
  const size = { width: 320, height: 180 };
  return publishSample(store, await sampleVideo('mp4', size), { ...size, type: 'mp4', text: '"Surf" <b>' });
}

test('the player may be framed by every site, and holds nothing but the video and the way to the operator', async () => {
  const id = await publishVideo();
  for (const name of ['video.mp4', 'large.jpg'])
    await expect.poll(async () => (await get(`/${id}/${name}`)).status, { timeout: 20_000 }).toBe(200);
  const answer = await get(`/${id}/player`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-frame-options')).toBeNull();
  expect(answer.headers.get('refresh')).toBeNull();
  expect(answer.headers.get('content-security-policy')).toMatch(
    /^default-src 'none';(?!.*unsafe).*frame-ancestors \*$/,
  );
  const { elements } = readHtml(await answer.text(), stack.site);
  const [video] = elements.filter(({ name }) => name === 'video');
  expect(video?.attributes).toMatchObject({
    ...{ controls: '', playsinline: '', preload: 'metadata' },
    ...{ 'aria-label': '"Surf" <b>', poster: `/${id}/large.jpg` },
  });
  expect(elements.filter(({ name }) => /^(script|style|b|img)$/.test(name))).toEqual([]);

  // Within a frame a link that opens in it would take the video's place.
  expect(elements.filter(({ name }) => name === 'a').map(({ attributes }) => attributes)).toEqual([
    { class: 'report', href: 'mailto:abuse@pictures.example', target: '_blank', rel: 'noopener' },
  ]);

  const named = elements.flatMap(({ name, attributes: { src, href, poster } }) =>
    [src, poster, name === 'link' ? href : undefined].filter((path) => path?.startsWith('/')),
  );
  expect(named).toEqual(['/player.css', '/favicon.svg', `/${id}/large.jpg`, `/${id}/video.mp4`]);
  for (const path of named) {
    const file = await get(path ?? '');
    expect({ path, status: file.status }).toEqual({ path, status: 200 });
    // A sandboxed frame is no part of this site.
    expect(file.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    await file.body?.cancel();
  }
});

test('every other page may not be framed', async () => {
  const id = await publishVideo();
  for (const path of [`/${id}`, '/', `/AAAAAAAAAA/player`]) {
    const { headers } = await get(path);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
});

test('a video that is still being processed is said to be so, and the frame looks again by itself', async () => {
  await stack.services['rendition-worker'].freeze();
  try {
    const id = await publishVideo();
    const answer = await get(`/${id}/player`);
    expect(answer.status).toBe(200);
    // Its samples are of an older day.
    expect(answer.headers.get('refresh')).toMatch(new RegExp(`^\\d+; url=/${id}/player\\?since=\\d+$`));
    expect(await answer.text()).toContain(
      '<p role="status">This video is still being processed. It will show up here by itself.</p>',
    );
  } finally {
    await stack.services['rendition-worker'].thaw();
  }
});

test('a video that cannot be shown is said to be so', async () => {
  const id = await publishSample(store, Buffer.from('\x1a\x45\xdf\xa3 but no video', 'latin1'), { type: 'webm' });
  const page = async () => {
    const answer = await get(`/${id}/player`);
    return { status: answer.status, refresh: answer.headers.get('refresh'), text: await answer.text() };
  };
  await expect.poll(page, { timeout: 20_000 }).toEqual({
    status: 200,
    refresh: null,
    text: expect.stringContaining('<p>This video cannot be shown.</p>'),
  });
});

test('a photo has no player', async () => {
  const id = await publishSample(store, await samplePhoto('jpg', { width: 320, height: 240 }));
  expect((await get(`/${id}/player`)).status).toBe(404);
});

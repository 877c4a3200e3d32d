import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import type { Stack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHtml } from './readers.fixture.ts';
import { publishSample, startSite } from './site.fixture.ts';

const resources = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;

beforeAll(async () => {
  ({ stack, store } = await startSite(resources, { ABUSE_CONTACT: 'mailto:abuse@pictures.example' }));
});
afterAll(() => resources.disposeAsync());

const get = (path: string) => fetch(stack.site + path);

async function publishVideo(): Promise<string> {
  const size = { width: 320, height: 180 };
  return publishSample(store, await sampleVideo('mp4', size), { ...size, type: 'mp4', text: '"Surf" <b>' });
}

test('every site may frame the player, which contains only the video and the abuse contact', async () => {
  const id = await publishVideo();
  for (const name of ['video.mp4', 'large.jpg'])
    await expect.poll(async () => (await get(`/${id}/${name}`)).status, { timeout: 20_000 }).toBe(200);
  const response = await get(`/${id}/player`);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-frame-options')).toBeNull();
  expect(response.headers.get('refresh')).toBeNull();
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none';(?!.*unsafe).*frame-ancestors \*$/,
  );
  const { elements } = readHtml(await response.text(), stack.site);
  const [video] = elements.filter(({ name }) => name === 'video');
  expect(video?.attributes).toMatchObject({
    ...{ controls: '', playsinline: '', preload: 'metadata' },
    ...{ 'aria-label': '"Surf" <b>', poster: `/${id}/large.jpg` },
  });
  expect(elements.filter(({ name }) => /^(script|style|b|img)$/.test(name))).toEqual([]);

  // A link that opened in the frame would replace the video.
  expect(elements.filter(({ name }) => name === 'a').map(({ attributes }) => attributes)).toEqual([
    { class: 'report', href: 'mailto:abuse@pictures.example', target: '_blank', rel: 'noopener' },
  ]);

  const paths = elements.flatMap(({ name, attributes: { src, href, poster } }) =>
    [src, poster, name === 'link' ? href : undefined].filter((path) => path?.startsWith('/')),
  );
  expect(paths).toEqual(['/player.css', '/favicon.svg', `/${id}/large.jpg`, `/${id}/video.mp4`]);
  for (const path of paths) {
    const file = await get(path ?? '');
    expect({ path, status: file.status }).toEqual({ path, status: 200 });
    // A sandboxed frame has an opaque origin.
    expect(file.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    await file.body?.cancel();
  }
});

test('no other page may be framed', async () => {
  const id = await publishVideo();
  for (const path of [`/${id}`, '/', `/AAAAAAAAAA/player`]) {
    const { headers } = await get(path);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
});

test('the player of a pending video reports it and reloads', async () => {
  await stack.services['rendition-worker'].freeze();
  try {
    const id = await publishVideo();
    const response = await get(`/${id}/player`);
    expect(response.status).toBe(200);
    // Sample records are older than half an hour.
    expect(response.headers.get('refresh')).toMatch(new RegExp(`^\\d+; url=/${id}/player\\?since=\\d+$`));
    expect(await response.text()).toContain(
      '<p role="status">This video is still being processed. It will appear here automatically.</p>',
    );
  } finally {
    await stack.services['rendition-worker'].thaw();
  }
});

test('the player reports an unsupported video', async () => {
  const id = await publishSample(store, Buffer.from('\x1a\x45\xdf\xa3 but no video', 'latin1'), { type: 'webm' });
  const page = async () => {
    const response = await get(`/${id}/player`);
    return { status: response.status, refresh: response.headers.get('refresh'), text: await response.text() };
  };
  await expect.poll(page, { timeout: 20_000 }).toEqual({
    status: 200,
    refresh: null,
    text: expect.stringContaining('<p>This video cannot be displayed.</p>'),
  });
});

test('a photo has no player', async () => {
  const id = await publishSample(store, await samplePhoto('jpg', { width: 320, height: 240 }));
  expect((await get(`/${id}/player`)).status).toBe(404);
});

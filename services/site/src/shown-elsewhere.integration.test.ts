import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { execa } from 'execa';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchNamed, type Preview, type Reader, readAs, readers } from './readers.fixture.ts';
import { shown } from './site.fixture.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = resources.use(await startStack());
});
afterAll(() => resources.disposeAsync());

async function uploaded(media: Buffer, message = 'Lunch by the sea'): Promise<string> {
  const { status, text } = await upload(stack, { media, message });
  expect(status).toBe(200);
  return JSON.parse(text).url;
}

async function expectShown(reader: Reader, { image }: Preview): Promise<void> {
  if (!image) throw new Error('no picture is shown');
  const response = await fetchReady(reader, image);
  const bytes = Buffer.from(await response.arrayBuffer());
  const { width, height } = await sharp(bytes).metadata();
  const { address, ...declared } = image;
  expect({ type: response.headers.get('content-type'), width, height }).toMatchObject(
    Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== undefined)),
  );
  expect(width).toBeGreaterThanOrEqual(reader.image.width);
  expect(height).toBeGreaterThanOrEqual(reader.image.height);
  expect(bytes.length).toBeLessThan(reader.image.bytes);
}

test('every reader shows a new photo with its caption', async () => {
  const address = await uploaded(await samplePhoto('jpg', { width: 2000, height: 1502 }));
  for (const [name, reader] of Object.entries(readers)) {
    const preview = await reader.preview(await readAs(reader, address));
    expect({ name, title: preview.title }).toEqual({ name, title: 'Lunch by the sea' });
    expect(preview).not.toHaveProperty('video.address');
    await expectShown(reader, preview);
  }
});

test('every reader shows the poster of a video at once, and later the video or its player', async () => {
  const address = await uploaded(await sampleVideo('webm', { width: 640, height: 360 }));
  const previews = new Map<Reader, Preview>();
  for (const reader of Object.values(readers)) {
    const preview = await reader.preview(await readAs(reader, address));
    await expectShown(reader, preview);
    previews.set(reader, preview);
  }
  for (const [reader, { video, frame }] of previews) {
    if (video) await expectVideo(reader, video);
    if (frame) await expectFrame(reader, frame);
    expect(video ?? frame).toBeDefined();
  }
});

/** Fetches media that may still be processed. */
async function fetchReady(reader: Reader, media: Parameters<typeof fetchNamed>[1]): Promise<Response> {
  await expect.poll(async () => (await fetchNamed(reader, media)).status).toBe(200);
  return fetchNamed(reader, media);
}

async function expectVideo(reader: Reader, video: NonNullable<Preview['video']>): Promise<void> {
  const response = await fetchReady(reader, video);
  expect(response.headers.get('content-type')).toBe(video.type);
  await response.body?.cancel();
  if (video.width === undefined) return;
  const entries = ['-show_entries', 'stream=width,height', '-of', 'json'];
  const { stdout } = await execa('ffprobe', ['-v', 'error', '-select_streams', 'v', ...entries, video.address]);
  expect(JSON.parse(stdout).streams).toEqual([{ width: video.width, height: video.height }]);
}

async function expectFrame(reader: Reader, frame: NonNullable<Preview['frame']>): Promise<void> {
  const response = await fetchNamed(reader, frame);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-frame-options')).toBeNull();
  expect(response.headers.get('content-security-policy')).toContain('frame-ancestors *');
  expect((frame.width ?? 0) / (frame.height ?? 0)).toBeCloseTo(640 / 360, 1);
}

test('crawlers get the same page as browsers', async () => {
  const address = await uploaded(await samplePhoto('png', { width: 320, height: 240 }));
  await shown({ site: address }, '/large.jpg');
  const agents = ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', ''].map((name) => ({
    'User-Agent': name,
  }));
  const allHeaders = [...agents, ...Object.values(readers).map(({ headers }) => headers)];
  const pages = await Promise.all(allHeaders.map(async (headers) => (await fetch(address, { headers })).text()));
  expect(new Set(pages).size).toBe(1);
});

import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

async function uploaded(media: Buffer): Promise<string> {
  const { status, text } = await upload(stack, { media });
  expect(status).toBe(200);
  return JSON.parse(text).id;
}

function status(path: string): Promise<number> {
  return fetch(`${stack.site}${path}`).then((response) => response.status);
}

async function countRenditions(): Promise<number> {
  const metrics = await stack.metrics('rendition-worker');
  const made = [...metrics.matchAll(/^echodrop_renditions_total{.*outcome="created".*} (\d+)$/gm)];
  return made.reduce((sum, [, count]) => sum + Number(count), 0);
}

test('pictures and video are made after the upload, before the first view', async () => {
  await uploaded(await samplePhoto('jpg', { width: 320, height: 240 }));
  await uploaded(await sampleVideo('avi', { width: 320, height: 240 }));
  await expect.poll(countRenditions).toBe(3);
  expect(await stack.stored('renditions')).toHaveLength(2);
});

test('a clip that is copied is fetched once, although its page, its poster and oEmbed are requested at once', async () => {
  const before = await costs();
  const id = await uploaded(await sampleVideo('mp4', { width: 320, height: 240 }));
  const oembed = `/oembed?url=${encodeURIComponent(`${stack.site}/${id}`)}`;
  const paths = [`/${id}?wait=0`, `/${id}`, oembed, `/${id}/large.jpg`, `/${id}.jpg`, `/${id}/thumb.jpg`, `/${id}.mp4`];
  await Promise.all(paths.map((path) => expect.poll(() => status(path), { interval: 500 }).toBe(200)));
  const after = await costs();
  expect(after.reads - before.reads).toBe(1);
  expect(after.made - before.made).toBe(2);
});

/** What the rendition-worker did: objects that it read, and sets that it made. */
async function costs(): Promise<{ reads: number; made: number }> {
  const metrics = await stack.metrics('rendition-worker');
  const reads = [...metrics.matchAll(/^echodrop_store_call_seconds_count{.*operation="read_body".*} (\d+)$/gm)];
  return { reads: reads.reduce((sum, [, count]) => sum + Number(count), 0), made: await countRenditions() };
}

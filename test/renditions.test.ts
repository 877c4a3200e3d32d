import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ settings: { PROBE_TIMEOUT_MS: '8000' } });
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

async function rendered(): Promise<number> {
  const metrics = await (await fetch(`${stack.ops('rendition-worker')}/metrics`)).text();
  const made = [...metrics.matchAll(/^echodrop_renditions_total{.*outcome="made".*} (\d+)$/gm)];
  return made.reduce((sum, [, count]) => sum + Number(count), 0);
}

test('pictures and video are made of what was uploaded before anybody looks', async () => {
  await uploaded(await samplePhoto('jpg', { width: 320, height: 240 }));
  await uploaded(await sampleVideo('avi', { width: 320, height: 240 }));
  await expect.poll(rendered, { timeout: 20_000 }).toBe(3);
  expect(await stack.stored('renditions')).toHaveLength(2);
});

test('a worker that is killed while it renders leaves its job to its successor, and the picture comes', async () => {
  const id = await uploaded(await samplePhoto('png', { width: 3000, height: 2000 }));
  await stack.services['rendition-worker'].kill();
  await stack.services['rendition-worker'].restart();
  await expect.poll(() => status(`/${id}/large.jpg`), { timeout: 30_000, interval: 500 }).toBe(200);
}, 60_000);

test('without a rendition worker uploads are published as ever', async () => {
  await stack.services['rendition-worker'].kill();
  await uploaded(await samplePhoto('jpg', { width: 320, height: 240 }));
  await stack.services['rendition-worker'].restart();
}, 60_000);

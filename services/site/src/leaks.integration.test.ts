import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MediaType, mediaTypes } from '@echodrop/media/media-type';
import { mark, markedPhotos } from '@echodrop/media/render-video/marked-media.fixture';
import { markedVideo } from '@echodrop/media/render-video/marked-videos.fixture';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey } from '@echodrop/object-store/object-keys';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample } from './publish-sample.fixture.ts';

// What a record knows and nobody else may.
const secrets = {
  provider: 'https://secret-provider.example/verify',
  subject: 'Secret-Subject-4711',
  application: 'Secret-Application-4711',
};

const videos = ['mp4', 'mov', 'mkv', 'avi'] as const;
const media: readonly (readonly [string, MediaType, () => Promise<Buffer>])[] = [
  ...markedPhotos,
  ...videos.map((type) => [`a video as ${type}`, type, () => markedVideo(type)] as const),
];

const parts = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;

beforeAll(async () => {
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'site-test-')));
  store = parts.use(new FilesystemObjectStore(path));
  const settings = { OBJECT_STORE_DIR: path, OEMBED_DISCOVERY: '1' };
  stack = parts.use(await startStack({ services: ['site', 'rendition-worker'], settings }));
});
afterAll(() => parts.disposeAsync());

test.each(media)('%s with a mark in all its places shows it at no public address', async (_name, type, make) => {
  const original = await make();
  expect(original.includes(mark)).toBe(true);
  const mediaKey = newMediaKey();
  const id = await publishSample(store, original, { mediaKey, type, ...secrets });

  const shown = await everyAnswer(id);
  const hidden = [mark, mediaKey, ...Object.values(secrets), encodeURIComponent(secrets.provider)];
  for (const { address, bytes } of shown) {
    for (const text of hidden) expect(bytes.includes(text), `${text} at ${address}`).toBe(false);
    expect(bytes.includes(original.subarray(0, 512)), `the original at ${address}`).toBe(false);
  }
  const pictures = shown.filter(({ contentType }) => /^(image|video)\//.test(contentType));
  expect(new Set(pictures.map(({ contentType }) => contentType))).toContain('image/webp');
  expect(pictures.length).toBeGreaterThan(12);
});

interface Shown {
  readonly address: string;
  readonly contentType: string;
  /** The head of the answer and its body. */
  readonly bytes: Buffer;
}

/** Everything that the site answers about `id`, and what its pages name, until nothing new is named. */
async function everyAnswer(id: string): Promise<Shown[]> {
  const pictures = [
    'mini.jpg',
    'thumb.jpg',
    'small.jpg',
    'medium.jpg',
    'medium.webp',
    'card.jpg',
    'large.jpg',
    'large.webp',
  ];
  const names = [...pictures, 'video.mp4', 'player', 'original'];
  const extensions = [...mediaTypes, 'jpeg', 'm4v', 'json', 'xml', 'txt'];
  const sizes = ['mini', 'thumb', 'large', 'full'];
  const page = encodeURIComponent(`${stack.site}/${id}`);
  const addresses = new Set([
    ...[`/${id}`, '/', '/documentation', `/oembed?format=json&url=${page}`, `/oembed?format=xml&url=${page}`],
    ...names.map((name) => `/${id}/${name}`),
    ...extensions.map((extension) => `/${id}.${extension}`),
    ...sizes.flatMap((size) => [`/show/${size}/${id}`, `/show/${size}/${id}.jpg`, `/show/${size}/${id}.mp4`]),
  ]);
  const shown: Shown[] = [];
  // The set grows while it is walked.
  for (const address of addresses) {
    const answer = await answered(address);
    shown.push(answer);
    for (const named of addressesIn(answer)) addresses.add(named);
  }
  return shown;
}

async function answered(address: string): Promise<Shown> {
  const get = () => fetch(`${stack.site}${address}`, { redirect: 'manual' });
  let answer = await get();
  // What is still being processed is waited for.
  await expect
    .poll(
      async () => {
        if (answer.status === 503) answer = await get();
        return answer.status;
      },
      { timeout: 20_000, interval: 200 },
    )
    .not.toBe(503);
  expect(answer.status, address).toBeLessThan(500);
  const head = JSON.stringify([...answer.headers]);
  const bytes = Buffer.concat([Buffer.from(head), Buffer.from(await answer.arrayBuffer())]);
  return { address, contentType: answer.headers.get('content-type') ?? '', bytes };
}

function addressesIn({ contentType, bytes }: Shown): string[] {
  if (!/html|json|xml/.test(contentType)) return [];
  const text = bytes.toString().replaceAll('&amp;', '&').replaceAll('\\"', '"');
  const named = [...text.matchAll(/"((?:https?:\/\/[^/"\s]+)?\/[^"\s]*)"/g)].map(([, address = '']) => address);
  const own = named.map((address) => new URL(address, stack.site)).filter(({ origin }) => origin === stack.site);
  return own.map(({ pathname, search }) => `${pathname}${search}`);
}

import { type MediaType, mediaTypes } from '@echodrop/media/detect-media-type';
import { mark, markedPhotos } from '@echodrop/media/render-video/marked-media.fixture';
import { markedVideo } from '@echodrop/media/render-video/marked-videos.fixture';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey } from '@echodrop/object-store/object-keys';
import type { Stack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample, startSite } from './site.fixture.ts';

// Fields of a record that are not public.
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

const resources = new AsyncDisposableStack();
let store: FilesystemObjectStore;
let stack: Stack;

beforeAll(async () => {
  ({ stack, store } = await startSite(resources, { OEMBED_DISCOVERY: '1' }));
});
afterAll(() => resources.disposeAsync());

test.each(media)('%s with marked metadata shows no marker at any public address', async (_name, type, make) => {
  const original = await make();
  expect(original.includes(mark)).toBe(true);
  const mediaKey = newMediaKey();
  const id = await publishSample(store, original, { mediaKey, type, ...secrets });

  const responses = await allResponses(id);
  const hidden = [mark, mediaKey, ...Object.values(secrets), encodeURIComponent(secrets.provider)];
  for (const { address, bytes } of responses) {
    for (const text of hidden) expect(bytes.includes(text), `${text} at ${address}`).toBe(false);
    expect(bytes.includes(original.subarray(0, 512)), `the original at ${address}`).toBe(false);
  }
  const pictures = responses.filter(({ contentType }) => /^(image|video)\//.test(contentType));
  expect(new Set(pictures.map(({ contentType }) => contentType))).toContain('image/webp');
  expect(pictures.length).toBeGreaterThan(12);
});

interface PublicResponse {
  readonly address: string;
  readonly contentType: string;
  /** Headers and body. */
  readonly bytes: Buffer;
}

/** All responses about `id`, following the addresses in them. */
async function allResponses(id: string): Promise<PublicResponse[]> {
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
  const responses: PublicResponse[] = [];
  // The set grows during the iteration.
  for (const address of addresses) {
    const response = await fetchReady(address);
    responses.push(response);
    for (const found of addressesIn(response)) addresses.add(found);
  }
  return responses;
}

async function fetchReady(address: string): Promise<PublicResponse> {
  const get = () => fetch(`${stack.site}${address}`, { redirect: 'manual' });
  let response = await get();
  // Waits while it is being processed.
  await expect
    .poll(
      async () => {
        if (response.status === 503) response = await get();
        return response.status;
      },
      { interval: 200 },
    )
    .not.toBe(503);
  expect(response.status, address).toBeLessThan(500);
  const head = JSON.stringify([...response.headers]);
  const bytes = Buffer.concat([Buffer.from(head), Buffer.from(await response.arrayBuffer())]);
  return { address, contentType: response.headers.get('content-type') ?? '', bytes };
}

function addressesIn({ contentType, bytes }: PublicResponse): string[] {
  if (!/html|json|xml/.test(contentType)) return [];
  const text = bytes.toString().replaceAll('&amp;', '&').replaceAll('\\"', '"');
  const found = [...text.matchAll(/"((?:https?:\/\/[^/"\s]+)?\/[^"\s]*)"/g)].map(([, address = '']) => address);
  const own = found.map((address) => new URL(address, stack.site)).filter(({ origin }) => origin === stack.site);
  return own.map(({ pathname, search }) => `${pathname}${search}`);
}

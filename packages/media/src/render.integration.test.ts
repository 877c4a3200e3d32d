import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jpegWithExif } from '@echodrop/testkit/sample-exif';
import { heifHeader } from '@echodrop/testkit/sample-iso';
import { sampleFilm, samplePhoto } from '@echodrop/testkit/sample-media';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { filmTracks } from './ffprobe.ts';
import { isPhoto, type MediaType } from './media-type.ts';
import { pictureRecipes } from './recipes.ts';
import { renderFilm } from './render-film.ts';
import { renderPictures } from './render-pictures.ts';

const mark = 'Mark-4711-Here';
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'render-'));
});
afterEach(() => rm(directory, { recursive: true }));

const options = () => ({ scratchDir: directory, maxPixels: 100_000_000, signal: AbortSignal.timeout(20_000) });

async function stored(bytes: Buffer): Promise<string> {
  const path = join(directory, 'media');
  await writeFile(path, bytes);
  return path;
}

async function large(type: MediaType, bytes: Buffer): Promise<Buffer> {
  const path = join(directory, 'large');
  const rendered = await renderPictures(
    { path: await stored(bytes), type },
    [{ recipe: pictureRecipes.large, path }],
    options(),
  );
  expect(rendered).toEqual({ outcome: 'made' });
  return readFile(path);
}

async function film(type: MediaType, bytes: Buffer) {
  if (isPhoto(type)) throw new Error('no film');
  const path = join(directory, 'film');
  expect(await renderFilm({ path: await stored(bytes), type }, path, options())).toEqual({ outcome: 'made' });
  const tracks = await filmTracks(path, 'mp4', AbortSignal.timeout(10_000));
  if (typeof tracks === 'string') throw new Error(tracks);
  return { tracks, bytes: await readFile(path) };
}

async function sizeOf(jpeg: Buffer) {
  const { format, width, height } = await sharp(jpeg).metadata();
  return { format, width, height };
}

const small = { width: 160, height: 120 };

describe('the large picture', () => {
  test.each(['jpg', 'png', 'gif', 'webp', 'avif', 'tiff', 'bmp'] as const)('of a %s', async (type) => {
    const picture = await large(type, await samplePhoto(type, { width: 1600, height: 800 }));
    expect(await sizeOf(picture)).toEqual({ format: 'jpeg', width: 1200, height: 600 });
  });

  test.each(['mp4', 'mov', '3gp', 'webm', 'mkv', 'avi', 'mpg', 'ts', 'ogv', 'flv', 'wmv'] as const)(
    'of a %s is its poster',
    async (type) => {
      const picture = await large(type, await sampleFilm(type, small));
      expect(await sizeOf(picture)).toEqual({ format: 'jpeg', width: 160, height: 120 });
      const { channels } = await sharp(picture).stats();
      expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(30);
    },
  );

  test('stands upright, and is never larger than the photo', async () => {
    const jpeg = jpegWithExif(await samplePhoto('jpg', { width: 64, height: 48 }), { orientation: 6 });
    expect(await sizeOf(await large('jpg', jpeg))).toEqual({ format: 'jpeg', width: 48, height: 64 });
  });

  test('of a film has square pixels', async () => {
    const film = await sampleFilm('mp4', { ...small, options: ['-vf', 'setsar=2'] });
    expect(await sizeOf(await large('mp4', film))).toEqual({ format: 'jpeg', width: 320, height: 120 });
  });

  test('of a photo with many pixels of transparency is on white', async () => {
    const clear = sharp({ create: { width: 20, height: 20, channels: 4, background: '#00000000' } });
    const { channels } = await sharp(await large('png', await clear.png().toBuffer())).stats();
    expect(channels.map(({ mean }) => mean)).toEqual([255, 255, 255]);
  });

  test('has the colours of its profile, without the profile', async () => {
    const red = sharp({ create: { width: 20, height: 20, channels: 3, background: '#c00000' } });
    const wide = await red.withIccProfile('p3').png().toBuffer();
    const picture = sharp(await large('png', wide));
    expect((await picture.metadata()).icc).toBeUndefined();
    expect((await picture.stats()).channels[0]?.mean).toBeGreaterThan(190);
  });

  test('says nothing of where the photo was taken', async () => {
    const jpeg = jpegWithExif(await samplePhoto('jpg', { width: 64, height: 48 }), { mark });
    expect(jpeg.includes(mark)).toBe(true);
    const picture = await large('jpg', jpeg);
    expect(picture.includes(mark)).toBe(false);
    expect(picture.includes('Exif')).toBe(false);
    expect(picture.includes('adobe')).toBe(false);
  });

  test.each<[string, MediaType, () => Promise<Buffer> | Buffer, string]>([
    ['a HEIC', 'heic', () => heifHeader('heic', small), 'codec'],
    [
      'a photo that is cut off',
      'jpg',
      async () => (await samplePhoto('jpg', { width: 640, height: 480 })).subarray(0, 9000),
      'broken',
    ],
    [
      'a WebP that promises more than it holds',
      'webp',
      () => Buffer.from('RIFF\x12\0\0\0WEBPVP8L\x06\0\0\0\x2f\x41\x6c\x6f\0\0', 'latin1'),
      'broken',
    ],
    [
      'a film that ends with its header',
      'mkv',
      async () => (await sampleFilm('mkv', small)).subarray(0, 700),
      'broken',
    ],
    [
      'text that is taken for a photo',
      'png',
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      'broken',
    ],
  ])('cannot be made of %s', async (_, type, bytes, why) => {
    const media = { path: await stored(await bytes()), type };
    const picture = { recipe: pictureRecipes.large, path: join(directory, 'large') };
    expect(await renderPictures(media, [picture], options())).toEqual({ outcome: 'unsupported', why });
    expect(await readdir(directory)).toEqual(['media']);
  });

  test('is not made of more pixels than are allowed', async () => {
    for (const [type, bytes] of [
      ['png', await samplePhoto('png', { width: 200, height: 100 })],
      ['bmp', await samplePhoto('bmp', { width: 200, height: 100 })],
      ['mp4', await sampleFilm('mp4', { width: 200, height: 100 })],
    ] as const) {
      const picture = { recipe: pictureRecipes.large, path: join(directory, 'large') };
      const limited = { ...options(), maxPixels: 19_000 };
      expect(await renderPictures({ path: await stored(bytes), type }, [picture], limited)).toMatchObject({
        outcome: 'unsupported',
      });
    }
  });
});

describe('the film', () => {
  test('of H.264 and AAC has their bytes', async () => {
    const original = await sampleFilm('mov', small);
    const { tracks, bytes } = await film('mov', original);
    expect(tracks).toMatchObject([{ codec: 'h264', width: 160, height: 120 }, { codec: 'aac' }]);
    expect(bytes.length).toBeLessThan(original.length * 1.1);
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });

  test.each(['3gp', 'webm', 'mkv', 'avi', 'mpg', 'ts', 'ogv', 'flv', 'wmv'] as const)(
    'of a %s is H.264 and AAC',
    async (type) => {
      const { tracks } = await film(type, await sampleFilm(type, small));
      const picture = { codec: 'h264', pixelFormat: 'yuv420p', width: 160, height: 120 };
      expect(tracks).toMatchObject([picture, { codec: 'aac', kind: 'sound' }]);
    },
  );

  test('is coded anew at most as large as full HD', async () => {
    const wide = await sampleFilm('avi', { width: 2560, height: 1440, seconds: 0.3 });
    expect((await film('avi', wide)).tracks).toMatchObject([{ width: 1920, height: 1080 }, {}]);
    const tall = await sampleFilm('avi', { width: 1440, height: 2560, seconds: 0.3 });
    expect((await film('avi', tall)).tracks).toMatchObject([{ width: 1080, height: 1920 }, {}]);
  });

  test('has no sound where there is none', async () => {
    const { tracks } = await film('webm', await sampleFilm('webm', { ...small, sound: false }));
    expect(tracks).toMatchObject([{ codec: 'h264' }]);
  });

  test.each(['mov', 'mp4', 'mkv', 'avi'] as const)('of a %s says nothing of where it was taken', async (type) => {
    const metadata = [
      ...['-metadata', `title=${mark}`, '-metadata', `comment=${mark}`, '-metadata', `location=+52.5+13.4/${mark}`],
      ...['-metadata:s:v', `title=${mark}`, '-metadata:s:a', `title=${mark}`, '-metadata:s:v', `handler_name=${mark}`],
      ...['-metadata:s:v', 'language=deu', '-movflags', 'use_metadata_tags'],
      ...(type === 'avi' ? [] : ['-bsf:v', `h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+${mark}`]),
    ];
    const original = await sampleFilm(type, { ...small, options: metadata });
    expect(original.includes(mark)).toBe(true);
    const { bytes } = await film(type, original);
    expect(bytes.includes(mark)).toBe(false);
    expect(bytes.includes('13.4')).toBe(false);
    expect(bytes.includes('x264 - core')).toBe(false);
  });

  test('cannot be made of a film that ends with its header', async () => {
    const media = { path: await stored((await sampleFilm('mkv', small)).subarray(0, 700)), type: 'mkv' } as const;
    expect(await renderFilm(media, join(directory, 'film'), options())).toMatchObject({ outcome: 'unsupported' });
  });

  test('is given up when nobody waits any more', async () => {
    const media = {
      path: await stored(await sampleFilm('avi', { width: 1280, height: 720, seconds: 8 })),
      type: 'avi',
    } as const;
    const stop = new AbortController();
    const rendering = renderFilm(media, join(directory, 'film'), { ...options(), signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 400);
    await expect(rendering).rejects.toThrow('enough');
  });
});

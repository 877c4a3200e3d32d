import { pngWithTexts } from '@echodrop/testkit/hostile/hostile-photo-parts';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { made, samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import sharp, { type Sharp } from 'sharp';
import { expect, test } from 'vitest';
import type { MediaType } from '../detect-media-type.ts';
import { picturesMade, renderedPictures } from '../rendered.fixture.ts';

const wide = { width: 1600, height: 800 };
const small = { width: 160, height: 120 };

async function probe(picture: Buffer) {
  const { format, width, height } = await sharp(picture).metadata();
  return { format, width, height };
}

async function meanColours(picture: Buffer): Promise<number[]> {
  const { channels } = await sharp(picture).stats();
  return channels.map(({ mean }) => Math.round(mean));
}

async function heicSample() {
  return heif({ coding: 'hevc', brands: ['heic', 'mif1', 'heic'], ...wide, tiles: { columns: 2, rows: 2 } });
}

const common = {
  'mini.jpg': { format: 'jpeg', width: 75, height: 75 },
  'thumb.jpg': { format: 'jpeg', width: 150, height: 150 },
  'small.jpg': { format: 'jpeg', width: 320, height: 160 },
  'medium.jpg': { format: 'jpeg', width: 640, height: 320 },
  'medium.webp': { format: 'webp', width: 640, height: 320 },
  'large.jpg': { format: 'jpeg', width: 1200, height: 600 },
  'large.webp': { format: 'webp', width: 1200, height: 600 },
};

test.each<[MediaType, string, string, () => Promise<Buffer>]>([
  ['jpg', 'full.jpg', 'jpeg', () => samplePhoto('jpg', wide)],
  ['png', 'full.png', 'png', () => samplePhoto('png', wide)],
  ['gif', 'full.gif', 'gif', () => samplePhoto('gif', wide)],
  ['webp', 'full.webp', 'webp', () => samplePhoto('webp', wide)],
  ['avif', 'full.avif', 'heif', () => samplePhoto('avif', wide)],
  ['tiff', 'full.jpg', 'jpeg', () => samplePhoto('tiff', wide)],
  ['bmp', 'full.jpg', 'jpeg', () => samplePhoto('bmp', wide)],
  ['heic', 'full.jpg', 'jpeg', heicSample],
  ['mp4', 'full.jpg', 'jpeg', () => sampleVideo('mp4', wide)],
])('makes every picture of a %s; the whole one is %s', async (type, whole, format, bytes) => {
  const { end, pictures } = await renderedPictures(type, await bytes());
  expect(end).toEqual({ outcome: 'made' });
  const found = await Promise.all([...pictures].map(async ([name, picture]) => [name, await probe(picture)] as const));
  expect(Object.fromEntries(found)).toEqual({ ...common, [whole]: { format, ...wide } });
});

test('crops to the most salient part, not to the centre', async () => {
  const eye = await sharp({ create: { width: 100, height: 100, channels: 3, background: '#e08060' } })
    .png()
    .toBuffer();
  const grey = sharp({ create: { width: 200, height: 1000, channels: 3, background: '#808080' } });
  const tall = await grey
    .composite([{ input: eye, left: 50, top: 20 }])
    .png()
    .toBuffer();
  const [red = 0, , blue = 0] = await meanColours((await picturesMade('png', tall))('thumb.jpg'));
  expect(red - blue).toBeGreaterThan(10);
});

// A red square whose left half was erased: editors leave its colours there.
async function erased(channels: 2 | 4): Promise<Sharp> {
  const side = 64;
  const alpha = (n: number) => (n % side < side / 2 ? 0 : 255);
  const pixels = Array.from({ length: side * side }, (_, n) => [...[200, 60, 30].slice(0, channels - 1), alpha(n)]);
  return sharp(Buffer.from(pixels.flat()), { raw: { width: side, height: side, channels } });
}

async function erasedAnimation(): Promise<Buffer> {
  const frame = await (await erased(4)).png().toBuffer();
  const animated = sharp([frame, await sharp(frame).negate({ alpha: false }).png().toBuffer()], {
    join: { animated: true },
  });
  return animated.webp({ lossless: true, exact: true }).toBuffer();
}

test.each<[string, MediaType, number, () => Promise<Buffer>]>([
  ['a PNG', 'png', 0, async () => (await erased(4)).png().toBuffer()],
  ['a PNG of greys', 'png', 0, async () => (await erased(2)).png().toBuffer()],
  ['a lossless WebP', 'webp', 0, async () => (await erased(4)).webp({ lossless: true, exact: true }).toBuffer()],
  ['an animated WebP', 'webp', 0, erasedAnimation],
  // Its coding blurs colours.
  ['an AVIF', 'avif', 60, async () => (await erased(4)).avif({ quality: 90 }).toBuffer()],
])('the whole picture of %s has no colours where it is transparent', async (_, type, blur, photo) => {
  const colours = async (picture: Buffer) => {
    const all = sharp(picture, { animated: true }).toColourspace('srgb');
    const { data, info } = await all.raw().toBuffer({ resolveWithObject: true });
    const hidden = Array.from({ length: data.length / info.channels }, (_, n) =>
      data.subarray(n * info.channels, (n + 1) * info.channels),
    ).filter((pixel) => pixel.at(-1) === 0);
    expect(hidden.length).toBeGreaterThan(0);
    return Math.max(...hidden.flatMap((pixel) => [...pixel.subarray(0, -1)]));
  };
  const original = await photo();
  expect(await colours(original)).toBeGreaterThan(100);
  const { pictures } = await renderedPictures(type, original);
  expect(await colours(pictures.get(`full.${type}`) ?? Buffer.alloc(0))).toBeLessThanOrEqual(blur);
});

test('keeps an animation in the whole picture, and its first frame in the others', async () => {
  const ofGif = await picturesMade('gif', await animation('-f', 'gif'));
  const ofWebp = await picturesMade('webp', await animation('-c:v', 'libwebp_anim', '-loop', '0', '-f', 'webp'));
  const whole = await sharp(ofGif('full.gif')).metadata();
  expect(whole).toMatchObject({ format: 'gif', pages: 5, ...small, delay: [100, 100, 100, 100, 100], loop: 0 });
  expect(await sharp(ofWebp('full.webp')).metadata()).toMatchObject({ format: 'webp', pages: 5, loop: 0 });
  for (const of of [ofGif, ofWebp]) expect((await sharp(of('large.webp')).metadata()).pages).toBeUndefined();
});

function animation(...coding: readonly string[]): Promise<Buffer> {
  return made(['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=10:duration=0.5', ...coding]);
}

test('makes the whole picture from the first frame if an animation has too many pixels', async () => {
  const { pictures } = await renderedPictures('gif', await animation('-f', 'gif'), { maxPixels: 160 * 120 * 2 });
  expect((await sharp(pictures.get('full.gif')).metadata()).pages).toBe(1);
});

test('keeps a lossless WebP lossless', async () => {
  const png = await samplePhoto('png', small);
  const webp = await sharp(png).webp({ lossless: true }).toBuffer();
  const whole = (await picturesMade('webp', webp))('full.webp');
  expect(await sharp(whole).removeAlpha().raw().toBuffer()).toEqual(await sharp(png).removeAlpha().raw().toBuffer());
});

test.each(['smpte2084', 'arib-std-b67'])('tone-maps an AVIF of high dynamic range (%s)', async (transfer) => {
  const hdr = `zscale=tin=bt709:pin=bt709:min=bt709:t=${transfer}:p=bt2020:m=bt2020nc:npl=203,format=yuv420p10le`;
  const tags = ['-color_primaries', 'bt2020', '-color_trc', transfer, '-colorspace', 'bt2020nc'];
  const lightGrey = ['-f', 'lavfi', '-i', 'color=0xd0d0d0:size=160x120', '-frames:v', '1', '-vf', hdr];
  const avif = await made([...lightGrey, ...tags, '-c:v', 'libaom-av1', '-cpu-used', '8', '-f', 'avif']);
  const picture = await picturesMade('avif', avif);
  expect(await probe(picture('full.avif'))).toEqual({ format: 'heif', ...small });
  for (const mean of await meanColours(picture('full.avif'))) expect(Math.abs(mean - 208)).toBeLessThan(25);
});

test('does not decode a HEIC with more pixels than allowed', async () => {
  const heic = await heif({ coding: 'hevc', brands: ['heic', 'mif1', 'heic'], ...small });
  for (let at = heic.indexOf('ispe'); at >= 0; at = heic.indexOf('ispe', at + 1)) {
    heic.writeUInt32BE(30_000, at + 8);
    heic.writeUInt32BE(30_000, at + 12);
  }
  expect((await renderedPictures('heic', heic)).end).toEqual({ outcome: 'unsupported', why: 'too_many_pixels' });
});

test.each<[string, MediaType, () => Promise<Buffer> | Buffer, string]>([
  ['a truncated HEIC', 'heic', async () => (await heicSample()).subarray(0, 3000), 'broken'],
  ['a photo that ends with its header', 'jpg', async () => (await samplePhoto('jpg', wide)).subarray(0, 200), 'broken'],
  [
    'a WebP that claims more than it contains',
    'webp',
    () => Buffer.from('RIFF\x12\0\0\0WEBPVP8L\x06\0\0\0\x2f\x41\x6c\x6f\0\0', 'latin1'),
    'broken',
  ],
  [
    'a video that ends with its header',
    'mkv',
    async () => (await sampleVideo('mkv', small)).subarray(0, 700),
    'broken',
  ],
  [
    'text detected as a photo',
    'png',
    () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    'broken',
  ],
])('makes no picture of %s', async (_, type, bytes, why) => {
  expect((await renderedPictures(type, await bytes())).end).toEqual({ outcome: 'unsupported', why });
});

test.each(['png', 'bmp', 'heic', 'mp4'] as const)(
  'makes no picture of a %s with more pixels than allowed',
  async (type) => {
    const size = { width: 200, height: 100 };
    const bytes =
      type === 'heic'
        ? await heif({ coding: 'hevc', brands: ['heic', 'mif1', 'heic'], ...size })
        : await (type === 'mp4' ? sampleVideo(type, size) : samplePhoto(type, size));
    const { end } = await renderedPictures(type, bytes, { maxPixels: 19_000 });
    expect(end).toMatchObject({ outcome: 'unsupported' });
    if (type === 'png' || type === 'heic') expect(end).toMatchObject({ why: 'too_many_pixels' });
  },
);

test('makes every picture of a PNG with 100 texts of 50 MB', async () => {
  const { end, pictures } = await renderedPictures('png', await pngWithTexts(100, 50_000_000));
  expect(end).toEqual({ outcome: 'made' });
  expect(await probe(pictures.get('full.png') ?? Buffer.alloc(0))).toEqual({ format: 'png', width: 32, height: 24 });
});

test('stops rendering if the job is cancelled', async () => {
  const stop = new AbortController();
  const noise = await samplePhoto('png', { width: 6000, height: 4000 });
  const rendering = renderedPictures('png', noise, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('enough')), 300);
  await expect(rendering).rejects.toThrow('enough');
});

import { deflateSync } from 'node:zlib';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { u32 } from '@echodrop/testkit/samples/sample-iso';
import { made } from '@echodrop/testkit/samples/sample-media';
import { type PngColour, pngChunk, pngOfColour } from '@echodrop/testkit/samples/sample-png';
import sharp, { type Sharp } from 'sharp';
import { expect, test } from 'vitest';
import type { MediaType } from '../detect-media-type.ts';
import { drawnPictures } from '../rendered.fixture.ts';
import { createProfile, sRgbPrimaries } from './colour-profile.ts';
import { createRawTiff } from './raw-tiff.ts';

const size = { width: 64, height: 48 };
type Colour = readonly number[];

// The right values follow from the definitions of sRGB, Display P3 and BT.2020 (chromaticities and curves; computed with NumPy,
// rounded), and from blending a colour with alpha 128 of 255 onto white: (1 - 128/255) * 255 + 128/255 * colour.
const red = [200, 80, 60];
const halfRed = [227, 167, 157];
/** The red of these numbers in Display P3, in BT.2020 with the curve of sRGB, and in a linear sRGB. */
const p3Red = [216, 69, 50];
const halfP3Red = [235, 162, 152];
const bt2020Red = [244, 37, 50];
const linearRed = [229, 152, 133];
/** 55 in a linear scale, opaque and half-transparent. */
const linearGrey = [128, 128, 128];
const halfGrey = [191, 191, 191];

const displayP3 = async () => (await sharp(await solid(red).withIccProfile('p3').png().toBuffer()).metadata()).icc;
const half = [...red, 128];
const multiplied = [100, 40, 30, 128];

type Row = readonly [name: string, type: MediaType, make: () => Promise<Buffer> | Buffer, colour: Colour];

// biome-ignore format: a table, one row per line
const rows: readonly Row[] = [
  ['PNG, half-transparent', 'png', () => png(half), halfRed],
  ['PNG of 16 bits, half-transparent', 'png', () => png16(half), halfRed],
  ['PNG with a palette, half-transparent', 'png', () => solid(half).png({ palette: true }).toBuffer(), halfRed],
  ['PNG in grey, half-transparent', 'png', () => png([128, 128]), halfGrey],
  ['PNG in grey of 16 bits, half-transparent', 'png', () => png16([128, 128]), halfGrey],
  ['GIF with transparent stripes', 'gif', () => stripes().gif().toBuffer(), halfRed],
  ['WebP, half-transparent', 'webp', () => solid(half).webp().toBuffer(), halfRed],
  ['WebP without loss, half-transparent', 'webp', () => solid(half).webp({ lossless: true }).toBuffer(), halfRed],
  ['AVIF, half-transparent', 'avif', () => solid(half).avif({ effort: 0 }).toBuffer(), halfRed],
  ['TIFF with unassociated alpha', 'tiff', () => tiff(half), halfRed],
  ['TIFF with associated alpha', 'tiff', () => tiff(multiplied, { isPremultiplied: true }), halfRed],
  ['TIFF of 16 bits with associated alpha', 'tiff', () => tiff(multiplied, { bits: 16, isPremultiplied: true }), halfRed],
  ['TIFF with masks after its colours and alpha', 'tiff', () => withMasks(red, 3), red],
  ['TIFF with masks after its colours', 'tiff', async () => withUnknownSamples(await withMasks(red, 3, 0)), red],
  ['TIFF with a black mask', 'tiff', () => withUnknownSamples(tiff([...red, 0])), red],
  ['TIFF with associated alpha and a mask', 'tiff', async () => withExtraSamples(await withMasks(multiplied, 1, 0), 1, 0), halfRed],
  ['TIFF with a mask and alpha', 'tiff', async () => withExtraSamples(await withMasks([...red, 0], 1, 128), 0, 2), halfRed],
  ['TIFF whose fourth samples have no kind', 'tiff', () => withoutExtraSamples(tiff(half)), halfRed],
  ['TIFF of 16 bits in Display P3 with a black mask', 'tiff', async () => withUnknownSamples(tiff([...red, 0], { bits: 16, profile: await displayP3() })), p3Red],
  ['TIFF of 16 bits with a black mask', 'tiff', () => withUnknownSamples(tiff([...red, 0], { bits: 16 })), red],

  ['PNG of 16 bits in Display P3', 'png', async () => png16(red, profileChunk(await displayP3())), p3Red],
  ['PNG of 16 bits in Display P3, half-transparent', 'png', async () => png16(half, profileChunk(await displayP3())), halfP3Red],
  ['TIFF of 16 bits in Display P3', 'tiff', async () => tiff(red, { bits: 16, profile: await displayP3() }), p3Red],
  ['TIFF of 16 bits in Display P3 with associated alpha', 'tiff', async () => tiff(multiplied, { bits: 16, profile: await displayP3(), isPremultiplied: true }), halfP3Red],
  ['JPEG in Display P3', 'jpg', () => solid(p3Red).withIccProfile('p3').jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer(), p3Red],
  ['TIFF in Lab', 'tiff', () => solid(red).toColourspace('lab').tiff().toBuffer(), red],
  ['TIFF in Lab of 16 bits', 'tiff', () => solid(red).toColourspace('labs').tiff().toBuffer(), red],
  ['PNG in linear grey', 'png', () => png([55], gamma(100_000)), linearGrey],
  ['PNG in linear grey of 16 bits', 'png', () => png16([55], gamma(100_000)), linearGrey],
  ['PNG in linear grey of 16 bits, half-transparent', 'png', () => png16([55, 128], gamma(100_000)), halfGrey],

  ['PNG with cICP of Display P3', 'png', () => png(red, numbers(12, 13)), p3Red],
  ['PNG of 16 bits with cICP of Display P3', 'png', () => png16(red, numbers(12, 13)), p3Red],
  ['PNG with cICP of a matrix, which counts as none', 'png', () => png(red, pngChunk('cICP', Buffer.from([9, 1, 9, 1]))), red],
  ['PNG with cICP of BT.2020', 'png', () => png(red, numbers(9, 1)), bt2020Red],
  ['PNG with cICP of sRGB before a profile of Display P3', 'png', async () => png(red, numbers(1, 13), profileChunk(await displayP3())), red],
  ['PNG with a profile of Display P3 before sRGB', 'png', async () => png(red, profileChunk(await displayP3()), pngChunk('sRGB', Buffer.alloc(1))), p3Red],
  ['PNG with gAMA of 1', 'png', () => png(red, gamma(100_000)), linearRed],
  ['PNG of 16 bits with gAMA of 1', 'png', () => png16(red, gamma(100_000)), linearRed],
  ['PNG with sRGB before gAMA of 1', 'png', () => png(red, pngChunk('sRGB', Buffer.alloc(1)), gamma(100_000)), red],
  ['PNG with gAMA and cHRM of sRGB', 'png', () => png(red, gamma(45_455), chromaticities(31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6000)), red],
  ['PNG with cHRM of Display P3', 'png', () => png(red, chromaticities(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6000)), p3Red],
  ['PNG with cHRM of nothing', 'png', () => png(red, chromaticities(0, 0, 0, 0, 0, 0, 0, 0)), red],
  ['PNG with cHRM on one line', 'png', () => png(red, chromaticities(31_270, 32_900, 10_000, 10_000, 20_000, 20_000, 30_000, 30_000)), red],
  ['PNG with gAMA of 0', 'png', () => png(red, gamma(0)), red],
  ['PNG with gAMA of one byte', 'png', () => png(red, pngChunk('gAMA', Buffer.alloc(1))), red],

  ['AVIF of 8 bits with nclx of BT.2020', 'avif', () => avif('yuv444p', 'bt2020', 'bt709'), bt2020Red],
  ['AVIF of 10 bits with nclx of Display P3', 'avif', () => avif('yuv444p10le', 'smpte432', 'iec61966-2-1'), p3Red],
  ['AVIF of 12 bits with nclx of Display P3', 'avif', () => avif('yuv444p12le', 'smpte432', 'iec61966-2-1'), p3Red],
  ['AVIF sequence with nclx of Display P3', 'avif', () => avif('yuv444p', 'smpte432', 'iec61966-2-1', '5'), p3Red],
  ['AVIF of tiles with nclx of Display P3', 'avif', () => heif({ ...p3Heif, coding: 'av1', brands: ['avif', 'mif1'], tiles: { columns: 2, rows: 2 } }), p3Red],
  ['HEIC with nclx of Display P3', 'heic', () => heif(p3Heif), p3Red],
  ['HEIC with a profile of linear grey', 'heic', () => heif({ ...greyHeif, coding: 'hevc', brands: ['heic', 'mif1'] }), linearGrey],
  ['AVIF with a profile of linear grey', 'avif', () => heif({ ...greyHeif, coding: 'av1', brands: ['avif', 'mif1'] }), linearGrey],
  ['HEIC of tiles with nclx of Display P3', 'heic', () => heif({ ...p3Heif, tiles: { columns: 2, rows: 1 } }), p3Red],
  ['HEIC of tiles that alone have nclx', 'heic', () => heif({ ...p3Heif, tiles: { columns: 2, rows: 1 }, coloursOnTiles: true }), p3Red],
];

test.each(rows)('every picture of a %s has its colour', async (_, type, make, colour) => {
  const { end, pictures } = await drawnPictures(type, await make());
  expect(end).toEqual({ outcome: 'made' });
  for (const [name, picture] of pictures) {
    const found = await meanOnWhite(picture);
    const farthest = Math.max(...colour.map((value, n) => Math.abs(value - (found[n] ?? Number.NaN))));
    expect(farthest, `${name}: ${found}, not ${colour}`).toBeLessThanOrEqual(4);
  }
});

test('every picture of a red JPEG in CMYK is red', async () => {
  // Inks have fewer colours than screens.
  const cmyk = await solid(red).toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 95 }).toBuffer();
  const { pictures } = await drawnPictures('jpg', cmyk);
  expect(pictures.size).toBe(8);
  for (const picture of pictures.values()) {
    const found = await meanOnWhite(picture);
    red.forEach((value, n) => {
      expect(Math.abs(value - (found[n] ?? Number.NaN))).toBeLessThan(25);
    });
  }
});

// As ffmpeg's zscale and tonemap show these greys, as BT.709; a player shows its curve darker than sRGB's.
test.each([
  ['PQ', 16, 100, 0x72],
  ['PQ', 16, 148, 0xd6],
  ['PQ', 16, 180, 0xf4],
  ['HLG', 18, 120, 0x87],
  ['HLG', 18, 191, 0xd6],
  ['HLG', 18, 230, 0xf1],
])('a grey PNG with cICP of %s (%i), %i, has the tone of a video', async (_, transfer, value, tone) => {
  const { pictures } = await drawnPictures('png', png16([value, value, value], numbers(9, transfer)));
  for (const picture of pictures.values()) {
    for (const mean of await meanOnWhite(picture)) expect(Math.abs(mean - tone)).toBeLessThanOrEqual(8);
  }
});

async function meanOnWhite(picture: Buffer): Promise<number[]> {
  const flat = sharp(picture).flatten({ background: '#fff' }).toColourspace('srgb');
  const { channels } = await sharp(await flat.png().toBuffer()).stats();
  return channels.map(({ mean }) => Math.round(mean));
}

function solid(samples: Colour): Sharp {
  const raw = { ...size, channels: samples.length as 1 | 2 | 3 | 4 };
  return sharp(Buffer.alloc(size.width * size.height * samples.length, Buffer.from(samples)), { raw });
}

/** A TIFF with further channels, whose samples are all the same. */
function withMasks(samples: Colour, count: number, value = 255): Promise<Buffer> {
  const raw = { ...size, channels: 1 } as const;
  const masks = Array.from({ length: count }, () => Buffer.alloc(size.width * size.height, value));
  return solid(samples).joinChannel(masks, { raw }).tiff({ compression: 'none' }).toBuffer();
}

// Tag 338 in little-endian order: its values say which samples are alpha.
const extraSamples = Buffer.from([0x52, 1, 3, 0]);

function withExtraSamples(file: Buffer, ...kinds: readonly [number, number]): Buffer {
  const entry = file.indexOf(extraSamples);
  file.writeUInt32LE(2, entry + 4);
  kinds.forEach((kind, n) => {
    file.writeUInt16LE(kind, entry + 8 + 2 * n);
  });
  return file;
}

// A private tag instead.
function withoutExtraSamples(file: Buffer): Buffer {
  file.writeUInt16LE(65_000, file.indexOf(extraSamples));
  return file;
}

function withUnknownSamples(file: Buffer): Buffer {
  const entry = file.indexOf(extraSamples);
  const count = file.readUInt32LE(entry + 4);
  const values = count > 2 ? file.readUInt32LE(entry + 8) : entry + 8;
  return file.fill(0, values, values + 2 * count);
}

// On white, the mean of equal stripes is nearly that of an alpha of 128.
function stripes(): Sharp {
  const stripe = [255, 0].flatMap((alpha) => Array.from({ length: 8 }, () => [...red, alpha]).flat());
  const pixels = Buffer.alloc(size.width * size.height * 4, Buffer.from(stripe));
  return sharp(pixels, { raw: { ...size, channels: 4 } });
}

function png(samples: Colour, ...chunks: readonly Buffer[]): Buffer {
  return pngOfColour(size, { samples, bits: 8 }, ...chunks);
}

function png16(samples: Colour, ...chunks: readonly Buffer[]): Buffer {
  const colour: PngColour = { samples: samples.map((sample) => sample * 257), bits: 16 };
  return pngOfColour(size, colour, ...chunks);
}

function profileChunk(profile: Buffer = Buffer.alloc(0)): Buffer {
  return pngChunk('iCCP', Buffer.concat([Buffer.from('p\0\0', 'latin1'), deflateSync(profile)]));
}

function numbers(primaries: number, transfer: number): Buffer {
  return pngChunk('cICP', Buffer.from([primaries, transfer, 0, 1]));
}

function gamma(value: number): Buffer {
  return pngChunk('gAMA', u32(value));
}

function chromaticities(...values: readonly number[]): Buffer {
  return pngChunk('cHRM', u32(...values));
}

interface TiffOptions {
  readonly bits?: 8 | 16;
  readonly profile?: Buffer | undefined;
  readonly isPremultiplied?: boolean;
}

function tiff(samples: Colour, { bits = 8, ...options }: TiffOptions = {}): Buffer {
  const raw = createRawTiff({ ...size, channels: samples.length === 4 ? 4 : 3, bits, ...options });
  // Both bytes of 16 bits are the same.
  raw.pixels.fill(Buffer.from(samples.flatMap((sample) => Array(bits / 8).fill(sample))));
  return raw.tiff;
}

function avif(pixelFormat: string, primaries: string, transfer: string, frames = '1'): Promise<Buffer> {
  const matrix = primaries === 'bt2020' ? 'bt2020' : 'bt709';
  const filters = [
    `format=gbrp,scale=out_color_matrix=${matrix}:out_range=pc,format=${pixelFormat}`,
    `setparams=color_primaries=${primaries}:color_trc=${transfer}:range=pc:colorspace=${matrix === 'bt2020' ? 'bt2020nc' : matrix}`,
  ];
  const input = ['-f', 'lavfi', '-i', 'color=0xC8503C:size=64x48:rate=5', '-frames:v', frames];
  const still = frames === '1' ? ['-still-picture', '1'] : [];
  return made([...input, '-vf', filters.join(','), '-c:v', 'libaom-av1', '-cpu-used', '8', ...still, '-f', 'avif']);
}

const greyHeif = {
  ...size,
  colour: '0x373737',
  profile: createProfile({ primaries: sRgbPrimaries, curve: { gamma: 1 } }, 'grey'),
};

const p3Heif = {
  coding: 'hevc',
  brands: ['heic', 'mif1'],
  ...size,
  colour: '0xC8503C',
  primaries: 12,
  transfer: 13,
} as const;

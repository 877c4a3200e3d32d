import { createCipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleVideo } from '@echodrop/testkit/samples/sample-media';
import sharp from 'sharp';

const MiB = 1024 * 1024;
const tileBytes = MiB;

/** A sample that every process of the bench can rebuild: the file at `path`, padded to `size` bytes. */
export interface Media {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly width: number;
  readonly height: number;
  /** As the record names it. */
  readonly type: 'jpg' | 'mp4';
}

export const sizeNames = ['200 KB', '3 MB', '100 MiB'] as const;
export type SizeName = (typeof sizeNames)[number];

export const rendered = ['200 KB', '3 MB', '12 MP', '10 s 1080p'] as const;
export type RenderedName = (typeof rendered)[number];

export type Samples = Record<SizeName | RenderedName | '4 MiB' | '1 GiB' | '1 MP' | '8 s 720p', Media>;

/** Writes the samples to `folder`: photos, a short video that is padded to each size, and one of 10 s that is not. */
export async function makeSamples(folder: string): Promise<Samples> {
  const width = 320;
  const height = 240;
  const path = await writeSample(folder, 'short.mp4', sampleVideo('mp4', { width, height, options: atFront }));
  const padVideo = (name: string, size: number): Media => ({ name, path, size, width, height, type: 'mp4' });
  const small = await photo(folder, '200 KB', { width: 1600, height: 1067, quality: 82, grain: 15 });
  return {
    '200 KB': small,
    '4 MiB': { ...small, name: '4 MiB', size: 4 * MiB },
    '3 MB': await photo(folder, '3 MB', { width: 3264, height: 2448, quality: 90, grain: 33 }),
    '12 MP': await photo(folder, '12 MP', { width: 4000, height: 3000, quality: 88, grain: 30 }),
    '10 s 1080p': await video(folder, '10 s 1080p', { width: 1920, height: 1080, seconds: 10, megabits: 5 }),
    '1 MP': await photo(folder, '1 MP', { width: 1200, height: 800, quality: 82, grain: 15 }),
    // As a phone sends it: most of its bits are noise.
    '8 s 720p': await video(folder, '8 s 720p', { width: 1280, height: 720, seconds: 8, megabits: 7.5, grain: 20 }),
    '100 MiB': padVideo('100 MiB', 100 * MiB),
    '1 GiB': padVideo('1 GiB', 1024 * MiB),
  };
}

// A probe then finds everything in the first bytes.
const atFront = ['-movflags', '+faststart'];

interface Photo {
  readonly width: number;
  readonly height: number;
  readonly quality: number;
  /** The noise of a larger sensor. */
  readonly grain: number;
}

// A real photo, made smaller or larger.
async function photo(folder: string, name: string, { width, height, quality, grain }: Photo): Promise<Media> {
  const noise = { type: 'gaussian', mean: 128, sigma: grain } as const;
  const input = await sharp({ create: { width, height, channels: 3, background: '#808080', noise } })
    .png()
    .toBuffer();
  const sized = sharp(join(import.meta.dirname, '../../../deploy/sample.jpg'))
    .autoOrient()
    .resize(width, height);
  const bytes = await sized
    .composite([{ input, blend: 'soft-light' }])
    .jpeg({ quality })
    .toBuffer();
  const path = await writeSample(folder, `${name}.jpg`, Promise.resolve(bytes));
  return { name, path, size: bytes.length, width, height, type: 'jpg' };
}

interface Video {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly megabits: number;
  readonly grain?: number;
}

async function video(folder: string, name: string, { width, height, seconds, megabits, grain }: Video): Promise<Media> {
  const noise = grain ? ['-vf', `noise=alls=${grain}:allf=t`] : [];
  const coding = ['-preset', 'veryfast', '-b:v', `${megabits}M`, '-pix_fmt', 'yuv420p'];
  const bytes = await sampleVideo('mp4', { width, height, seconds, options: [...noise, ...coding, ...atFront] });
  const path = await writeSample(folder, `${name}.mp4`, Promise.resolve(bytes));
  return { name, path, size: bytes.length, width, height, type: 'mp4' };
}

async function writeSample(folder: string, name: string, bytes: Promise<Buffer>): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, await bytes);
  return path;
}

/** The bytes of a sample. The padding is a `free` box (ISO 14496-12) of noise, so that a search for a boundary meets every byte value. */
export function bytesOf({ path, size }: Media): Buffer[] {
  const file = readFileSync(path);
  if (file.length === size) return [file];
  const box = Buffer.alloc(8);
  box.writeUInt32BE(size - file.length);
  box.write('free', 4);
  const padding = size - file.length - box.length;
  const noise = noiseTile();
  const tiles = Array.from({ length: Math.floor(padding / tileBytes) }, () => noise);
  return [file, box, ...tiles, noise.subarray(0, padding % tileBytes)];
}

// The same in every process.
function noiseTile(): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(tileBytes));
}

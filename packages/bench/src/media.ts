import { createCipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleFilm, samplePhoto } from '@echodrop/testkit/sample-media';

const MiB = 1024 * 1024;
const tileBytes = MiB;

/** A sample that every process of the bench can make again: the file at `path`, padded to `size` bytes. */
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

export type Samples = Record<SizeName | '4 MiB' | '1 GiB', Media>;

/** Writes the samples to `folder`: two JPEG photos, and one short video that is padded to each other size. */
export async function makeSamples(folder: string): Promise<Samples> {
  const photo = async (name: string, width: number, height: number, noise: number): Promise<Media> => {
    const path = join(folder, `${name}.jpg`);
    const options = ['-vf', `noise=alls=${noise}:all_seed=1`, '-q:v', '4'];
    const bytes = await samplePhoto('jpg', { width, height, options });
    await writeFile(path, bytes);
    return { name, path, size: bytes.length, width, height, type: 'jpg' };
  };
  const path = join(folder, 'video.mp4');
  const [width, height] = [320, 240];
  await writeFile(path, await sampleFilm('mp4', { width, height, options: ['-movflags', '+faststart'] }));
  const video = (name: string, size: number): Media => ({ name, path, size, width, height, type: 'mp4' });
  return {
    '200 KB': await photo('200 KB', 1280, 960, 9),
    '3 MB': await photo('3 MB', 4000, 3000, 14),
    '4 MiB': video('4 MiB', 4 * MiB),
    '100 MiB': video('100 MiB', 100 * MiB),
    '1 GiB': video('1 GiB', 1024 * MiB),
  };
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

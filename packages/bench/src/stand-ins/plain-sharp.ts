/**
 * The plain peer of the rendition-worker: nine pictures of a photo, one by one from the file; of a video a copy with its sound recoded, and
 * the pictures of a still. It has no limits and no store.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import sharp from 'sharp';
import type { Media } from '../media.ts';

interface Picture {
  readonly crop?: number;
  readonly longest?: number;
  readonly quality: number;
  readonly format: 'jpeg' | 'progressive' | 'webp';
}

const pictures: readonly Picture[] = [
  { crop: 75, quality: 80, format: 'progressive' },
  { crop: 150, quality: 80, format: 'progressive' },
  { longest: 320, quality: 80, format: 'progressive' },
  { longest: 640, quality: 80, format: 'progressive' },
  { longest: 640, quality: 80, format: 'webp' },
  { longest: 1200, quality: 75, format: 'jpeg' },
  { longest: 1200, quality: 82, format: 'progressive' },
  { longest: 1200, quality: 80, format: 'webp' },
  { quality: 90, format: 'progressive' },
];

// As in the worker: no cache, and one thread per photo.
sharp.cache(false);
sharp.concurrency(1);

process.on('disconnect', () => process.exit());
process.on('message', async ({ path, type }: Media) => {
  await (type === 'jpg' ? makePictures(path) : makeVideo(path));
  process.send?.('done');
});

async function makePictures(path: string): Promise<void> {
  for (const picture of pictures) await makePicture(path, picture);
}

async function makePicture(path: string, { crop, longest, quality, format }: Picture): Promise<void> {
  const photo = sharp(path, { failOn: 'none' }).autoOrient().flatten({ background: '#ffffff' });
  if (crop) photo.resize(crop, crop, { fit: 'cover', position: 'attention' });
  if (longest) photo.resize(longest, longest, { fit: 'inside', withoutEnlargement: true });
  if (format === 'webp') await photo.webp({ quality }).toBuffer();
  else await photo.jpeg({ quality, progressive: format === 'progressive' }).toBuffer();
}

// Two runs of ffmpeg.
async function makeVideo(path: string): Promise<void> {
  const video = `${path}.plain.mp4`;
  const still = `${path}.plain.png`;
  const input = ['-nostdin', '-y', '-v', 'error', '-threads', '4', '-i', path];
  const copied = ['-c:v', 'copy', '-bsf:v', 'filter_units=pass_types=1|5|7|8|13,h264_metadata'];
  const sound = ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'];
  await run('ffmpeg', [...input, ...copied, ...sound, '-map_metadata', '-1', '-movflags', '+faststart', video]);
  await run('ffmpeg', [...input, '-an', '-vf', 'thumbnail=n=24', '-frames:v', '1', still]);
  await makePictures(still);
  await Promise.all([video, still].map((made) => rm(made)));
}

function run(file: string, args: readonly string[]): Promise<unknown> {
  return promisify(execFile)(file, args);
}

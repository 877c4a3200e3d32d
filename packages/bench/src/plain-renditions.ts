import { join } from 'node:path';
import { guardedSharp } from '@echodrop/media/guarded-sharp';
import { execa } from 'execa';

/** What a picture of the plain peer is: a JPEG or a WebP, cropped to a square or made smaller to a longest side. */
interface PlainPicture {
  readonly format: 'jpeg' | 'webp';
  readonly crop?: number;
  readonly longest?: number;
  readonly quality: number;
  readonly progressive?: boolean;
}

// The nine pictures that were made of every JPEG when the comparison began; they stay as they were.
const pictures: Readonly<Record<string, PlainPicture>> = {
  mini: { format: 'jpeg', crop: 75, quality: 80, progressive: true },
  thumb: { format: 'jpeg', crop: 150, quality: 80, progressive: true },
  small: { format: 'jpeg', longest: 320, quality: 80, progressive: true },
  medium: { format: 'jpeg', longest: 640, quality: 80, progressive: true },
  mediumWebp: { format: 'webp', longest: 640, quality: 80 },
  card: { format: 'jpeg', longest: 1200, quality: 75 },
  large: { format: 'jpeg', longest: 1200, quality: 82, progressive: true },
  largeWebp: { format: 'webp', longest: 1200, quality: 80 },
  full: { format: 'jpeg', quality: 90, progressive: true },
};

/** Makes the nine pictures of the photo at `path` one by one, each from the file, with sharp in this process. */
export async function plainPictures(path: string): Promise<void> {
  for (const picture of Object.values(pictures)) await made(path, picture);
}

async function made(
  path: string,
  { format, crop, longest, quality, progressive = false }: PlainPicture,
): Promise<void> {
  const photo = guardedSharp()(path, { failOn: 'none' }).autoOrient().flatten({ background: '#ffffff' });
  if (crop) photo.resize(crop, crop, { fit: 'cover', position: 'attention' });
  if (longest) photo.resize(longest, longest, { fit: 'inside', withoutEnlargement: true });
  const coded = format === 'webp' ? photo.webp({ quality }) : photo.jpeg({ quality, progressive });
  await coded.toBuffer();
}

/**
 * Makes of the H.264 video at `path` what Echodrop makes of it, with two runs of ffmpeg and nothing around them: a copy without notes
 * and metadata with its sound coded as AAC, and a still of its first 24 frames with the nine pictures of it.
 */
export async function plainVideo(path: string, folder: string): Promise<void> {
  const [film, still] = [join(folder, 'plain.mp4'), join(folder, 'plain.png')];
  const common = ['-nostdin', '-y', '-v', 'error', '-threads', '4', '-i', path];
  const copied = ['-c:v', 'copy', '-bsf:v', 'filter_units=pass_types=1|5|7|8|13,h264_metadata'];
  const sound = ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'];
  await execa('ffmpeg', [...common, ...copied, ...sound, '-map_metadata', '-1', '-movflags', '+faststart', film]);
  await execa('ffmpeg', [...common, '-an', '-vf', 'thumbnail=n=24', '-frames:v', '1', still]);
  await plainPictures(still);
}

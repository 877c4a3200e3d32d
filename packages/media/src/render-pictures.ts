import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import { decodePhoto } from './guarded-sharp.ts';
import type { MediaType } from './media-type.ts';
import { isPhoto } from './media-type.ts';
import type { PictureRecipe } from './recipes.ts';
import { pictureOfBitmap, pictureOfFilm } from './still-picture.ts';
import type { UnsupportedReason } from './unsupported.ts';

/** Media as a whole file on this machine: renditions need all of its bytes. */
export interface LocalMedia {
  readonly path: string;
  readonly type: MediaType;
}

export interface RenderOptions {
  /** For what lies on disk only while rendering. */
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

/** `unsupported`: no rendition can be made of these bytes, however often one tries. */
export type Rendered =
  | { readonly outcome: 'made' }
  | { readonly outcome: 'unsupported'; readonly why: UnsupportedReason };

/**
 * Makes pictures of a photo, or of a film's beginning, each at the path given with its recipe. Oriented as displayed,
 * sRGB on white, without any metadata.
 *
 * Rejects where rendering broke down: no room on the disk, ffmpeg missing or not done in time, `signal` aborted.
 */
export async function renderPictures(
  media: LocalMedia,
  pictures: readonly { readonly recipe: PictureRecipe; readonly path: string }[],
  options: RenderOptions,
): Promise<Rendered> {
  const still = join(options.scratchDir, `still-${randomUUID()}.png`);
  await using _ = { [Symbol.asyncDispose]: () => rm(still, { force: true }) };
  const source = await decodable(media, still, options);
  if (source.outcome !== 'decodable') return { outcome: 'unsupported', why: source.outcome };
  for (const { recipe, path } of pictures) {
    options.signal.throwIfAborted();
    const bytes = await picture(decodePhoto(source.path, options.maxPixels), recipe);
    if (!bytes) return { outcome: 'unsupported', why: 'broken' };
    await writeFile(path, bytes);
  }
  return { outcome: 'made' };
}

type Decodable = { readonly outcome: 'decodable'; readonly path: string } | { readonly outcome: UnsupportedReason };

// What sharp cannot decode becomes a PNG first. It reads the headers of HEIC, but brings no decoder for what is
// inside.
async function decodable({ path, type }: LocalMedia, still: string, options: RenderOptions): Promise<Decodable> {
  if (type === 'heic') return { outcome: 'codec' };
  if (isPhoto(type) && type !== 'bmp') return { outcome: 'decodable', path };
  const end =
    type === 'bmp' ? await pictureOfBitmap(path, still, options) : await pictureOfFilm({ path, type }, still, options);
  return end === 'done' ? { outcome: 'decodable', path: still } : { outcome: end };
}

// sharp leaves all metadata behind and turns colours to sRGB unless told otherwise. It cannot be stopped by a signal:
// seconds bound it.
const mostSeconds = 60;

async function picture(photo: Sharp, { longestSide, quality }: PictureRecipe): Promise<Buffer | undefined> {
  const rendition = photo
    .timeout({ seconds: mostSeconds })
    .autoOrient()
    .resize(longestSide, longestSide, { fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .jpeg({ quality, progressive: true });
  try {
    return await rendition.toBuffer();
  } catch {
    return undefined;
  }
}

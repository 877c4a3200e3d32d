import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isVideo, type LocalMedia } from '../input/local-media.ts';
import { lookAtFile } from '../input/local-source.ts';
import { isPlainHdr } from '../photo-size/heif-size.ts';
import type { Rendered, RenditionReason } from '../rendition-outcome.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';
import type { PictureJob, PictureToMake, ProcessBudget } from './picture-job.ts';
import { makePictures } from './picture-process.ts';
import {
  isSequence,
  pictureOfBitmap,
  pictureOfHdr,
  pictureOfSequence,
  pictureOfVideo,
  type Still,
} from './still-picture.ts';

/** What pictures may cost. */
export interface PictureBounds extends ProcessBudget {
  /** See PictureJob. */
  readonly animationPixels?: number;
}

export interface RenderOptions extends PictureBounds {
  /** For what lies on disk only while rendering. */
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

/**
 * Makes pictures of a photo, or of a video's beginning, each at the path given with its recipe. Upright, sRGB, without
 * any metadata; transparent where the format can be, else on white. Where one cannot be made the others are, and the
 * end is `unsupported`: what lies at its path is made, and whole.
 *
 * Rejects where rendering broke down: no room on the disk, a tool missing or killed, `signal` aborted. Rejects with OutputRefused if ffmpeg left
 * something else than a PNG.
 */
export async function renderPictures(
  media: LocalMedia,
  pictures: readonly PictureToMake[],
  options: RenderOptions,
): Promise<Rendered> {
  const still = join(options.scratchDir, `still-${randomUUID()}.png`);
  await using _ = { [Symbol.asyncDispose]: () => rm(still, { force: true, recursive: true }) };
  const isWhole = pictures.some(({ recipe }) => recipe.size === 'whole');
  const source = await drawableSource(media, still, { ...options, isWhole });
  if (typeof source === 'string') return { outcome: 'unsupported', why: source };
  const { maxPixels, animationPixels, signal } = options;
  return await makePictures({ source, pictures, maxPixels, animationPixels }, signal, options);
}

interface StillOptions extends Pick<RenderOptions, 'maxPixels' | 'signal' | 'seconds' | 'niceness'> {
  /** Whether the whole picture is wanted too. */
  readonly isWhole: boolean;
}

/**
 * What pictures are drawn from: the photo itself, or a PNG that ffmpeg writes to `still` of what only ffmpeg reads.
 * @throws OutputRefused
 */
export async function drawableSource(
  media: LocalMedia,
  still: string,
  options: StillOptions,
): Promise<PictureJob['source'] | RenditionReason> {
  const source = await stillOf(media, still, options);
  if (source === 'not needed') return media;
  if (typeof source === 'string') return source;
  await using _ = await openToolOutput(still, 'png');
  return source;
}

async function stillOf(
  media: LocalMedia,
  still: string,
  options: StillOptions,
): Promise<Still | 'not needed' | RenditionReason> {
  const { path, type } = media;
  if (type === 'bmp') return pictureOfBitmap(path, still, options);
  if (isVideo(media)) return pictureOfVideo(media, still, options);
  if ((type === 'avif' || type === 'heic') && (await isSequence(path))) return pictureOfSequence(path, still, options);
  if (type === 'avif' && (await lookAtFile(path, isPlainHdr))) return pictureOfHdr(path, still, options);
  return 'not needed';
}

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inspectFile } from '../input/inspect-file.ts';
import type { Rendered, RenditionReason } from '../outcomes.ts';
import { readHeif } from '../photo-size/heif-size.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';
import { isVideo, type LocalMedia } from '../video-layout/ffprobe.ts';
import { extractBitmap, extractVideoFrame, type FrameOptions } from './extract-still.ts';
import type { PictureSource, PictureToMake, ProcessBudget } from './picture-job.ts';
import { makePictures } from './picture-process.ts';

/** What pictures may cost. */
export interface PictureLimits extends ProcessBudget {
  /** See PictureJob. */
  readonly animationPixels?: number;
}

export interface RenderOptions extends PictureLimits {
  /** For temporary files. */
  readonly scratchDir: string;
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

/**
 * Makes pictures of a photo, or of the beginning of a video, each at the path given with its recipe: upright, sRGB and
 * without metadata. If one cannot be made the others are, and the result is `unsupported`; a picture with its marker is complete.
 * @throws if rendering broke down: no disk space, a tool missing or killed, `signal` aborted; OutputRefused if ffmpeg left
 * something other than a PNG
 */
export async function renderPictures(
  media: LocalMedia,
  pictures: readonly PictureToMake[],
  options: RenderOptions,
): Promise<Rendered> {
  const stillPath = join(options.scratchDir, `still-${randomUUID()}.png`);
  await using _ = { [Symbol.asyncDispose]: () => rm(stillPath, { force: true, recursive: true }) };
  const isWhole = pictures.some(({ recipe }) => recipe.size === 'whole');
  const source = await prepareSource(media, stillPath, { ...options, isWhole });
  if (typeof source === 'string') return { outcome: 'unsupported', why: source };
  const { maxPixels, animationPixels, signal } = options;
  return await makePictures({ source, pictures, maxPixels, animationPixels }, signal, options);
}

/**
 * The photo itself, or a PNG that ffmpeg writes to `stillPath` if only ffmpeg reads the media.
 * @throws OutputRefused
 */
export async function prepareSource(
  media: LocalMedia,
  stillPath: string,
  options: FrameOptions,
): Promise<PictureSource | RenditionReason> {
  const source = await extractStill(media, stillPath, options);
  if (typeof source === 'string' || source === media) return source;
  await using _ = await openToolOutput(stillPath, 'png');
  return source;
}

async function extractStill(
  media: LocalMedia,
  stillPath: string,
  options: FrameOptions,
): Promise<PictureSource | RenditionReason> {
  const { path, type } = media;
  if (type === 'bmp') return extractBitmap(path, stillPath, options);
  if (isVideo(media)) return extractVideoFrame(media, stillPath, options);
  if (type !== 'avif' && type !== 'heic') return media;
  const displayed = await inspectFile(path, (reader) => readHeif(reader, type));
  if (typeof displayed === 'string' || !displayed.isTrack) return media;
  if (displayed.obstacle) return displayed.obstacle;
  const sequence = { path, type: 'mp4' } as const;
  return extractVideoFrame(sequence, stillPath, { ...options, isWhole: true, isSequence: true });
}

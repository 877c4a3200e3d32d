import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inspectFile } from '../input/inspect-file.ts';
import { isVideo, type LocalMedia } from '../input/local-media.ts';
import type { Rendered, RenditionReason } from '../outcomes.ts';
import { isPictureTrack, isPlainHdr } from '../photo-size/heif-size.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';
import { extractBitmap, extractSequencePicture, extractVideoFrame, type Still } from './extract-still.ts';
import type { PictureJob, PictureToMake, ProcessBudget } from './picture-job.ts';
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
 * without metadata. If one cannot be made the others are, and the result is `unsupported`; a file at a picture's path is
 * complete.
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

interface SourceOptions extends Pick<RenderOptions, 'maxPixels' | 'signal' | 'seconds' | 'niceness'> {
  /** Whether the whole picture is needed. */
  readonly isWhole: boolean;
}

/**
 * The photo itself, or a PNG that ffmpeg writes to `stillPath` if only ffmpeg reads the media.
 * @throws OutputRefused
 */
export async function prepareSource(
  media: LocalMedia,
  stillPath: string,
  options: SourceOptions,
): Promise<PictureJob['source'] | RenditionReason> {
  const still = await extractStill(media, stillPath, options);
  if (still === 'not needed') return media;
  if (typeof still === 'string') return still;
  await using _ = await openToolOutput(stillPath, 'png');
  return still;
}

async function extractStill(
  media: LocalMedia,
  stillPath: string,
  options: SourceOptions,
): Promise<Still | 'not needed' | RenditionReason> {
  const { path, type } = media;
  if (type === 'bmp') return extractBitmap(path, stillPath, options);
  if (isVideo(media)) return extractVideoFrame(media, stillPath, options);
  if (type !== 'avif' && type !== 'heic') return 'not needed';
  if (await inspectFile(path, isPictureTrack)) return extractSequencePicture(path, stillPath, options);
  if (type === 'heic' || !(await inspectFile(path, isPlainHdr))) return 'not needed';
  // Tone-mapped by ffmpeg. If that fails, the picture keeps the colours of the file.
  const still = await extractSequencePicture(path, stillPath, options);
  return typeof still === 'string' ? 'not needed' : still;
}

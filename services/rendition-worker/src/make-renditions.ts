import { lstat } from 'node:fs/promises';
import type { Rendered } from '@echodrop/media/outcomes';
import { completeMarkerOf, type PictureToMake } from '@echodrop/media/render-picture/picture-job';
import { type RenderOptions, renderPictures } from '@echodrop/media/render-picture/render-pictures';
import { renderVideo } from '@echodrop/media/render-video/render-video';
import type { Recipe, RenditionSet } from '@echodrop/media/rendition-recipes';
import { isVideo, type LocalMedia } from '@echodrop/media/video-layout/ffprobe';
import type { LaneLimits } from './lanes.ts';

/** A rendition, and the path of its file. */
export interface RenditionToMake {
  readonly recipe: Recipe;
  readonly path: string;
}

/** The outcome for a set, and the renditions that were made. */
interface RenditionsMade {
  readonly rendered: Rendered;
  readonly made: readonly RenditionToMake[];
}

interface MakeOptions extends RenderOptions {
  readonly limits: LaneLimits;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** Makes renditions of one set. @throws ToolFailed, OutputRefused, or an Error of the disk */
export async function makeRenditions(
  set: RenditionSet,
  media: LocalMedia,
  renditions: readonly RenditionToMake[],
  { limits, onProgress, ...options }: MakeOptions,
): Promise<RenditionsMade> {
  if (set !== 'film') {
    const pictures = renditions.filter(isPicture);
    const rendered = await renderPictures(media, pictures, { ...options, ...limits.pictures });
    return { rendered, made: rendered.outcome === 'made' ? pictures : await findComplete(pictures) };
  }
  const [video] = renditions;
  if (!video || !isVideo(media)) return { rendered: { outcome: 'unsupported', why: 'no_picture' }, made: [] };
  const { estimatedSeconds } = limits;
  const rendered = await renderVideo(media, video.path, { ...options, ...limits.video, estimatedSeconds, onProgress });
  return { rendered, made: rendered.outcome === 'made' ? [video] : [] };
}

function isPicture(rendition: RenditionToMake): rendition is PictureToMake {
  return 'size' in rendition.recipe;
}

async function findComplete(pictures: readonly RenditionToMake[]): Promise<RenditionToMake[]> {
  const found = await Promise.all(pictures.map(({ path }) => lstat(completeMarkerOf(path)).catch(() => undefined)));
  return pictures.filter((_, n) => found[n] !== undefined);
}

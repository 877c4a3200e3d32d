import { ownerHash } from '@echodrop/archive/owner';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { fullRecipe, type PictureRecipe, pictureRecipes } from '@echodrop/media/rendition-recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import type { Size } from '@echodrop/media/size';
import { directPath } from '../find/direct-address.ts';
import type { PublishedMedia } from '../find/find-media.ts';
import { isPending, type MediaView } from '../find/find-view.ts';
import type { Site } from '../site.ts';
import { alternativeTextOf, nameOf, titleOf } from './media-title.ts';
import { playerFrame } from './player-page.ts';

/** The maximum size of the embedded media, in pixels. */
export interface MaxSize {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** The parameters of an oEmbed 1.0 response. */
export type Oembed = Readonly<Record<string, string | number>>;

// A pending rendition may turn out unsupported.
const cacheSeconds = { final: 86_400, pending: 60 };
const { large, medium, small, thumb, mini } = pictureRecipes;
// Without a limit, a post would get up to a hundred megapixels.
const defaultMax = { width: large.size.longest, height: large.size.longest };

/** The response (oembed.com, section 2.3): `photo`, `video`, or `link` if no rendition fits. Pictures are the largest that fit `max`. */
export function oembedOf(
  record: PublishedMedia,
  view: MediaView,
  max: MaxSize,
  site: Pick<Site, 'publicSite' | 'name'>,
): Oembed {
  const { publicSite } = site;
  const alt = alternativeTextOf(record);
  const thumbnail =
    view.picture === 'unsupported' ? undefined : largestFitting([large, medium, small, thumb, mini], record, max);
  return {
    version: '1.0',
    ...(embed(record, view, max, publicSite) ?? { type: 'link' }),
    title: titleOf(record),
    // Not in the specification, which allows other parameters and has none for this.
    ...(alt && { alt }),
    author_name: nameOf(record),
    author_url: `${publicSite}/by/${ownerHash(record)}`,
    provider_name: site.name,
    provider_url: `${publicSite}/`,
    cache_age: isPending(view) ? cacheSeconds.pending : cacheSeconds.final,
    ...(thumbnail && {
      thumbnail_url: publicSite + pathOf(thumbnail, record),
      thumbnail_width: thumbnail.width,
      thumbnail_height: thumbnail.height,
    }),
  };
}

function embed(record: PublishedMedia, view: MediaView, max: MaxSize, publicSite: string): Oembed | undefined {
  if (!isPhoto(record.type)) return view.video === 'unsupported' ? undefined : video(record, max, publicSite);
  return view.picture === 'unsupported' ? undefined : photo(record, view, max, publicSite);
}

function photo(
  record: PublishedMedia,
  { isAnimated = false }: MediaView,
  max: MaxSize,
  publicSite: string,
): Oembed | undefined {
  const hasLimit = max.width !== undefined || max.height !== undefined;
  const limit = hasLimit || isAnimated ? max : defaultMax;
  const picture = largestFitting([fullRecipe(record.type), large, medium, small, thumb, mini], record, limit);
  if (!picture) return undefined;
  const { width, height } = picture;
  return { type: 'photo', url: publicSite + pathOf(picture, record), width, height };
}

function video(record: PublishedMedia, max: MaxSize, publicSite: string): Oembed {
  const video = videoSize(record);
  const scale = Math.min(1, (max.width ?? video.width) / video.width, (max.height ?? video.height) / video.height);
  const scaleSide = (side: number) => Math.max(1, Math.floor(side * scale));
  const size = { width: scaleSide(video.width), height: scaleSide(video.height) };
  return { type: 'video', html: playerFrame(record, size, publicSite).toString(), ...size };
}

interface SizedPicture extends Size {
  readonly recipe: PictureRecipe;
}

function largestFitting(
  recipes: readonly PictureRecipe[],
  record: PublishedMedia,
  max: MaxSize,
): SizedPicture | undefined {
  const sized = recipes.map((recipe) => ({ recipe, ...pictureSize(recipe, record) }));
  return sized.find(({ width, height }) => width <= (max.width ?? width) && height <= (max.height ?? height));
}

function pathOf({ recipe }: SizedPicture, record: PublishedMedia): string {
  return recipe.size === 'whole' ? directPath(record) : `/${record.id}/${recipe.name}.${recipe.extension}`;
}

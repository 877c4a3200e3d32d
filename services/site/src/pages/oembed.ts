import { ownerHash } from '@echodrop/archive/owner';
import { isPhoto } from '@echodrop/media/media-type';
import { fullRecipe, type PictureRecipe, pictureRecipes } from '@echodrop/media/recipes';
import { pictureSize, videoSize } from '@echodrop/media/rendition-size';
import { directPath } from '../find/direct-address.ts';
import type { PublishedMedia } from '../find/find-media.ts';
import type { Site } from '../site.ts';
import type { Shown } from './media-page.ts';
import { nameOf, titleOf } from './media-title.ts';
import { playerFrame } from './player-frame.ts';

/** How large what is embedded may be at most, in pixels. */
export interface Room {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** An oEmbed 1.0 response: its parameters in order, without those that do not apply. */
export type Oembed = Readonly<Record<string, string | number>>;

// What is said while something is being made may turn out otherwise.
const cacheSeconds = { usual: 86_400, pending: 60 };
const { large, medium, small, thumb, mini } = pictureRecipes;
// Who names no limits shall not get a hundred megapixels into the middle of a post.
const usualRoom = { width: large.size.longest, height: large.size.longest };

/**
 * What oEmbed 1.0 (oembed.com, section 2.3) says of media: `photo`, `video`, or `link` where nothing can be embedded, as none can be made of the
 * media or none is small enough. Each picture is named with its own size: the largest that fits `room`.
 */
export function oembedOf(
  record: PublishedMedia,
  shown: Shown,
  room: Room,
  site: Pick<Site, 'publicSite' | 'name'>,
): Oembed {
  const { publicSite } = site;
  const isPending = shown.picture === 'not_ready' || shown.video === 'not_ready';
  const thumbnail =
    shown.picture === 'unsupported' ? undefined : fitting([large, medium, small, thumb, mini], record, room);
  return {
    ...{ version: '1.0', ...(embedded(record, shown, room, publicSite) ?? { type: 'link' }), title: titleOf(record) },
    ...{ author_name: nameOf(record), author_url: `${publicSite}/by/${ownerHash(record)}` },
    ...{ provider_name: site.name, provider_url: `${publicSite}/` },
    cache_age: isPending ? cacheSeconds.pending : cacheSeconds.usual,
    ...(thumbnail && {
      thumbnail_url: publicSite + pathOf(thumbnail, record),
      thumbnail_width: thumbnail.width,
      thumbnail_height: thumbnail.height,
    }),
  };
}

function embedded(record: PublishedMedia, shown: Shown, room: Room, publicSite: string): Oembed | undefined {
  if (!isPhoto(record.type)) return shown.video === 'unsupported' ? undefined : video(record, room, publicSite);
  return shown.picture === 'unsupported' ? undefined : photo(record, shown, room, publicSite);
}

function photo(
  record: PublishedMedia,
  { isAnimated = false }: Shown,
  room: Room,
  publicSite: string,
): Oembed | undefined {
  const isAnySize = room.width === undefined && room.height === undefined;
  const most = isAnySize && !isAnimated ? usualRoom : room;
  const picture = fitting([fullRecipe(record.type), large, medium, small, thumb, mini], record, most);
  if (!picture) return undefined;
  const { width, height } = picture;
  return { type: 'photo', url: publicSite + pathOf(picture, record), width, height };
}

// The player fills whatever frame it is given.
function video(record: PublishedMedia, room: Room, publicSite: string): Oembed {
  const video = videoSize(record);
  const scale = Math.min(1, (room.width ?? video.width) / video.width, (room.height ?? video.height) / video.height);
  const scaled = (side: number) => Math.max(1, Math.floor(side * scale));
  const size = { width: scaled(video.width), height: scaled(video.height) };
  return { type: 'video', html: playerFrame(record, size, publicSite).toString(), ...size };
}

interface Fitting {
  readonly recipe: PictureRecipe;
  readonly width: number;
  readonly height: number;
}

function fitting(recipes: readonly PictureRecipe[], record: PublishedMedia, room: Room): Fitting | undefined {
  const { width: widest = Number.POSITIVE_INFINITY, height: highest = Number.POSITIVE_INFINITY } = room;
  const sized = recipes.map((recipe) => ({ recipe, ...pictureSize(recipe, record) }));
  return sized.find(({ width, height }) => width <= widest && height <= highest);
}

function pathOf({ recipe }: Fitting, record: PublishedMedia): string {
  return recipe.size === 'whole' ? directPath(record) : `/${record.id}/${recipe.name}.${recipe.extension}`;
}

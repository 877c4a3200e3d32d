import { isPhoto } from '@echodrop/media/media-type';
import { picturesOf, type Recipe, type RenditionSet } from '@echodrop/media/recipes';
import { renderFilm } from '@echodrop/media/render-film';
import { type LocalMedia, type Rendered, type RenderOptions, renderPictures } from '@echodrop/media/render-pictures';

/** A rendition that is wanted, and the file that it is to be in. */
export interface RenditionToMake {
  readonly recipe: Recipe;
  readonly path: string;
}

/** Makes renditions of one set from `media`, each in its file. Rejects where rendering broke down. */
export async function makeRenditions(
  set: RenditionSet,
  { path, type }: LocalMedia,
  renditions: readonly RenditionToMake[],
  options: RenderOptions,
): Promise<Rendered> {
  if (set === 'pictures') {
    const pictures = picturesOf(type).flatMap((recipe) =>
      renditions
        .filter(({ recipe: { name, extension } }) => name === recipe.name && extension === recipe.extension)
        .map((rendition) => ({ recipe, path: rendition.path })),
    );
    return renderPictures({ path, type }, pictures, options);
  }
  const [film] = renditions;
  if (!film || isPhoto(type)) return { outcome: 'unsupported', why: 'no_picture' };
  return renderFilm({ path, type }, film.path, options);
}

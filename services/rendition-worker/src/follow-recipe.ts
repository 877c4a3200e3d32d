import { isPhoto } from '@echodrop/media/media-type';
import { filmRecipe, pictureRecipes, type Recipe } from '@echodrop/media/recipes';
import { renderFilm } from '@echodrop/media/render-film';
import { type LocalMedia, type Rendered, type RenderOptions, renderPictures } from '@echodrop/media/render-pictures';

/** Makes of `media` what `recipe` says, in the file `result`. Rejects where rendering broke down. */
export async function followRecipe(
  recipe: Recipe,
  { path, type }: LocalMedia,
  result: string,
  options: RenderOptions,
): Promise<Rendered> {
  const picture = Object.values(pictureRecipes).find(({ name }) => name === recipe.name);
  if (picture) return renderPictures({ path, type }, [{ recipe: picture, path: result }], options);
  if (recipe.name !== filmRecipe.name) throw new Error('nobody knows how to follow this recipe');
  if (isPhoto(type)) return { outcome: 'unsupported', why: 'no_picture' };
  return renderFilm({ path, type }, result, options);
}

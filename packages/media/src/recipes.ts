/**
 * A public rendition of media. A recipe that makes other bytes than before gets a new version, and so a new key in the
 * store.
 */
export interface Recipe {
  readonly name: string;
  readonly version: number;
  readonly extension: string;
  readonly contentType: string;
}

/** A picture, of a photo or as the poster of a film; sides in pixels. */
export interface PictureRecipe extends Recipe {
  readonly longestSide: number;
  /** Of the JPEG, 1 to 100. */
  readonly quality: number;
}

/** The pictures that are made. */
export const pictureRecipes = {
  large: { name: 'large', version: 1, extension: 'jpg', contentType: 'image/jpeg', longestSide: 1200, quality: 82 },
} as const satisfies Record<string, PictureRecipe>;

/** The film that browsers play. */
export const filmRecipe = {
  name: 'film',
  version: 1,
  extension: 'mp4',
  contentType: 'video/mp4',
} as const satisfies Recipe;

/** The recipe of that name; undefined where there is none (any more). */
export function recipeNamed(name: string): Recipe | undefined {
  return [...Object.values(pictureRecipes), filmRecipe].find((recipe) => recipe.name === name);
}

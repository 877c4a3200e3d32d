import type { ColourCodes } from '../colour-codes.ts';
import type { MediaType } from '../detect-media-type.ts';
import type { PictureRecipe } from '../rendition-recipes.ts';
import type { Size } from '../size.ts';

/** A picture, and the path of its file. */
export interface PictureToMake {
  readonly recipe: PictureRecipe;
  readonly path: string;
}

/** A photo as uploaded, or a PNG frame of a video or of a photo that sharp does not read. */
export interface PictureSource {
  readonly path: string;
  readonly type: MediaType;
  /** The size of the original picture, if the file holds a smaller one. */
  readonly whole?: Size;
  /** The colours of the photo, if they are not those that its file states. */
  readonly codes?: ColourCodes;
}

/** The command line of the process that makes pictures. */
export interface PictureJob {
  readonly source: PictureSource;
  readonly pictures: readonly PictureToMake[];
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  /** Canvas times frames of an animation; one of more is `too_costly`. */
  readonly animationPixels?: number | undefined;
}

/** The line that the process prints first. Without it, the process did not start. */
export const startLine = 'begun';

/** The line that the process prints once the picture at `path` is complete: it may be killed while it writes the next one. */
export function completeLine(path: string): string {
  return JSON.stringify(path);
}

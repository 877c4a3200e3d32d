import type { MediaType } from '../media-type.ts';
import type { PictureRecipe } from '../recipes.ts';
import type { Size } from '../size.ts';
import type { UnsupportedReason } from '../unsupported.ts';

/** A picture to be made, and the file it goes to. */
export interface PictureToMake {
  readonly recipe: PictureRecipe;
  readonly path: string;
}

/** What the process that makes pictures is told, on its command line. */
export interface PictureJob {
  /** A photo as it was uploaded, or a still of a video or of what sharp does not read (then `png`). */
  readonly source: {
    readonly path: string;
    readonly type: MediaType;
    /** The size of the picture that it stands for, if it is a smaller one. */
    readonly whole?: Size;
  };
  readonly pictures: readonly PictureToMake[];
  /** Width x height of a canvas. */
  readonly maxPixels: number;
  /** Canvas times frames of an animation; one of more is `too_costly`. */
  readonly animationPixels?: number | undefined;
}

/** What it answers in one line. `failed`: it could not, and the media is not known to be at fault. */
export type PictureJobEnd =
  | { readonly outcome: 'made' }
  | { readonly outcome: 'unsupported'; readonly why: UnsupportedReason }
  | { readonly outcome: 'failed'; readonly message: string };

/** Printed first: what ends without it was never able to begin. */
export const begun = 'begun';

/** Limits of the process that makes pictures. */
export interface ProcessBudget {
  /** Wall-clock time; 180 unless set. */
  readonly seconds?: number;
  /** See ToolLimits. */
  readonly niceness?: number;
}

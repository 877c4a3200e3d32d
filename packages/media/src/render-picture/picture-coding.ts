import type { Sharp } from 'sharp';
import type { PictureRecipe } from '../recipes.ts';

/** What the coding of a whole picture takes over from the file it came in. */
export interface SourceCoding {
  /** A JPEG's, as sharp tells it: `4:2:0` where colours have half the resolution. */
  readonly chromaSubsampling?: string | undefined;
  /** A WebP's. */
  readonly isLossless: boolean;
  /** Of an animation's frames, in milliseconds, where its decoder tells others. */
  readonly delays?: number[] | undefined;
}

/**
 * How a recipe's format is written. sharp leaves all metadata behind unless told to keep it. JPEG knows no
 * transparency, and is on white; so is every picture that is not the whole one: on the dark ground of a page nobody would see dark lines.
 */
export function encode(picture: Sharp, recipe: PictureRecipe, source: SourceCoding): Sharp {
  const { format, quality, size } = recipe;
  const isWhole = size === 'whole';
  const onWhite = () => picture.flatten({ background: '#ffffff' });
  switch (format) {
    case 'jpeg': {
      const isFine = isWhole && source.chromaSubsampling !== '4:2:0';
      const chromaSubsampling = isFine ? '4:4:4' : '4:2:0';
      return onWhite().jpeg({ quality, progressive: isWhole, optimiseCoding: isWhole, chromaSubsampling });
    }
    case 'png':
      return picture.png();
    case 'gif':
      return picture.gif({ effort: 1, ...(source.delays && { delay: source.delays }) });
    case 'webp':
      if (!isWhole) return onWhite().webp({ quality, effort: 2 });
      return source.isLossless ? picture.webp({ lossless: true, effort: 1 }) : picture.webp({ quality });
    case 'avif':
      return picture.avif({ quality, effort: 0 });
  }
}

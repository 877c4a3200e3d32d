import type { Sharp } from 'sharp';
import type { PictureRecipe } from '../rendition-recipes.ts';

/** Properties of a source file that the coding of the whole picture keeps. */
export interface SourceCoding {
  /** Of a JPEG, in sharp's notation: `4:2:0` if colours have half the resolution. */
  readonly chromaSubsampling?: string | undefined;
  /** Of a WebP. */
  readonly isLossless: boolean;
}

/**
 * Encodes a picture in a recipe's format, without metadata (sharp's default). All but the whole picture are flattened onto
 * white, as JPEG always is: on a dark page, dark lines on a transparent ground would be invisible.
 */
export function encode(picture: Sharp, recipe: PictureRecipe, source: SourceCoding): Sharp {
  const { extension, quality, size } = recipe;
  const isWhole = size === 'whole';
  const blendOnWhite = () => picture.flatten({ background: '#ffffff' });
  switch (extension) {
    case 'jpg': {
      const isFine = isWhole && source.chromaSubsampling !== '4:2:0';
      const chromaSubsampling = isFine ? '4:4:4' : '4:2:0';
      return blendOnWhite().jpeg({ quality, progressive: isWhole, optimiseCoding: isWhole, chromaSubsampling });
    }
    case 'png':
      return picture.png();
    case 'gif':
      return picture.gif({ effort: 1 });
    case 'webp':
      if (!isWhole) return blendOnWhite().webp({ quality, effort: 2 });
      return source.isLossless ? picture.webp({ lossless: true, effort: 1 }) : picture.webp({ quality });
    case 'avif':
      return picture.avif({ quality, effort: 0 });
  }
}

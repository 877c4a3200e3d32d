import type { Sharp } from 'sharp';
import type { PictureRecipe } from '../rendition-recipes.ts';

/** Properties of a source file that the coding of the whole picture keeps. */
export interface SourceCoding {
  /** The resolution of a JPEG's colours in sharp's notation: `4:2:0` if colours have half the resolution. */
  readonly chromaSubsampling?: string | undefined;
  /** Whether a WebP is losslessly coded. */
  readonly isLossless: boolean;
}

/** Encodes a picture in a recipe's format, without metadata (sharp's default). Flattens it onto white if that is JPEG. */
export function encode(picture: Sharp, recipe: PictureRecipe, source: SourceCoding): Sharp {
  const { extension, quality, size } = recipe;
  const isWhole = size === 'whole';
  switch (extension) {
    case 'jpg': {
      const isFine = isWhole && source.chromaSubsampling !== '4:2:0';
      const chromaSubsampling = isFine ? '4:4:4' : '4:2:0';
      const flat = picture.flatten({ background: '#ffffff' });
      return flat.jpeg({ quality, progressive: isWhole, optimiseCoding: isWhole, chromaSubsampling });
    }
    case 'png':
      return picture.png();
    case 'gif':
      return picture.gif({ effort: 1 });
    case 'webp':
      if (!isWhole) return picture.webp({ quality, effort: 2 });
      return source.isLossless ? picture.webp({ lossless: true, effort: 1 }) : picture.webp({ quality });
    case 'avif':
      return picture.avif({ quality, effort: 0 });
  }
}

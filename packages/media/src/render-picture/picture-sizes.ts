import { pictureRecipes } from '../recipes.ts';
import { roundSize, type Size } from '../size.ts';

const sizes = Object.values(pictureRecipes).map(({ size }) => size);
/** The sides of all pictures but the whole one, the largest first. */
export const longestSides = largestFirst(sizes.flatMap((size) => ('longest' in size ? [size.longest] : [])));
export const crops = largestFirst(sizes.flatMap((size) => ('crop' in size ? [size.crop] : [])));
const [largestSide = 0, largestCrop = 0] = [longestSides[0], crops[0]];

/**
 * The size at which a picture must be decoded for all recipes but the whole picture: never enlarged, and with a shorter
 * side that fills a crop.
 */
export function decodedSize(whole: Size): Size {
  const [longest, shortest] = [Math.max(whole.width, whole.height), Math.min(whole.width, whole.height)];
  const scale = Math.min(1, Math.max(largestSide / longest, largestCrop / shortest));
  return roundSize({ width: whole.width * scale, height: whole.height * scale });
}

function largestFirst(sides: readonly number[]): number[] {
  return [...new Set(sides)].sort((a, b) => b - a);
}

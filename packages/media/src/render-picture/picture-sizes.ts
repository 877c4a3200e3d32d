import { pictureRecipes } from '../recipes.ts';
import { roundSize, type Size } from '../size.ts';

/** The sizes of all pictures but the whole one, the largest first. */
const sizes = Object.values(pictureRecipes).map(({ size }) => size);
export const longestSides = [...new Set(sizes.flatMap((size) => ('longest' in size ? [size.longest] : [])))].sort(
  descending,
);
export const crops = [...new Set(sizes.flatMap((size) => ('crop' in size ? [size.crop] : [])))].sort(descending);
const [largestSide = 0, largestCrop = 0] = [longestSides[0], crops[0]];

/**
 * The size in which a picture of this displayed size has to be decoded for all sizes but the whole one: never enlarged,
 * and the shorter side still fills a crop.
 */
export function decodedSize(whole: Size): Size {
  const [longest, shortest] = [Math.max(whole.width, whole.height), Math.min(whole.width, whole.height)];
  const scale = Math.min(1, Math.max(largestSide / longest, largestCrop / shortest));
  return roundSize({ width: whole.width * scale, height: whole.height * scale });
}

function descending(one: number, other: number): number {
  return other - one;
}

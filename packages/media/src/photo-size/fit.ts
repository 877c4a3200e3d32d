import type { Size } from '../unsupported.ts';

/**
 * `size`, made smaller where it must be so that its longer and its shorter side are at most these; never larger. Not
 * rounded.
 */
export function within(size: Size, most: { readonly longest: number; readonly shortest: number }): Size {
  const longest = Math.max(size.width, size.height);
  const shortest = Math.min(size.width, size.height);
  const scale = Math.min(1, most.longest / longest, most.shortest / shortest);
  return { width: size.width * scale, height: size.height * scale };
}

/** The nearest size with even sides, as H.264 in 4:2:0 has them. */
export function evenSize({ width, height }: Size): Size {
  return { width: even(width), height: even(height) };
}

function even(side: number): number {
  return Math.max(2, Math.round(side / 2) * 2);
}

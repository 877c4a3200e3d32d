/** A width and a height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Scales `size` down so that its sides are at most these lengths. Never enlarges, and does not round. */
export function fitWithin(size: Size, max: { readonly longest: number; readonly shortest: number }): Size {
  const longest = Math.max(size.width, size.height);
  const shortest = Math.min(size.width, size.height);
  const scale = Math.min(1, max.longest / longest, max.shortest / shortest);
  return { width: size.width * scale, height: size.height * scale };
}

/** The nearest size in whole pixels, at least one per side. */
export function roundSize({ width, height }: Size): Size {
  return { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
}

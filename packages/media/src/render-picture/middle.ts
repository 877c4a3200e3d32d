import type { Size } from '../size.ts';
import type { Area } from './heif-still.ts';

const mostSlender = 10;

/**
 * What of a picture of this size a crop to a square looks at: all of it, or of one more than ten times as long as wide
 * its middle. A crop first enlarges the shorter side to its own: 150 pixels make 9 million of one line of 60,000.
 */
export function middleOf({ width, height }: Size): Area {
  const longest = mostSlender * Math.min(width, height);
  const middle = { width: Math.min(width, longest), height: Math.min(height, longest) };
  return { left: (width - middle.width) >> 1, top: (height - middle.height) >> 1, ...middle };
}

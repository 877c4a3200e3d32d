import type { Raw } from 'sharp';
import type { Area } from '../photo-size/heif-transformations.ts';
import type { PictureRecipe } from '../rendition-recipes.ts';
import { crops, longestSides } from '../rendition-size.ts';
import { fitWithin, roundSize, type Size } from '../size.ts';
import { guardedSharp } from './guarded-sharp.ts';

/** An uncoded picture: upright, sRGB, 8 bits per channel. */
export interface Pixels {
  readonly data: Buffer;
  readonly info: Raw;
}

/**
 * A picture in the sizes of all recipes, each made once, from the next larger one. All but the whole picture are flattened
 * onto white: on a dark page, dark lines on a transparent ground would be invisible.
 */
export class PixelSizes {
  readonly #decoded: Pixels;
  readonly #whole: Size;
  readonly #made = new Map<string, Promise<Pixels>>();

  /** `decoded` is at least as large as `decodedSize(whole)`. */
  constructor(decoded: Pixels, whole: Size) {
    this.#decoded = decoded;
    this.#whole = whole;
  }

  /** @throws if libvips cannot make that size */
  get(size: PictureRecipe['size']): Promise<Pixels> {
    if (size === 'whole') return Promise.resolve(this.#decoded);
    return 'crop' in size ? this.#once(`crop ${size.crop}`, () => this.#crop(size.crop)) : this.#shrinkTo(size.longest);
  }

  #shrinkTo(longest: number): Promise<Pixels> {
    return this.#once(`longest ${longest}`, async () => {
      const larger = longestSides.findLast((side) => side > longest);
      const from = larger === undefined ? await this.#flat() : await this.#shrinkTo(larger);
      const { width, height } = roundSize(fitWithin(this.#whole, { longest, shortest: longest }));
      if (from.info.width === width && from.info.height === height) return from;
      return toPixels(toSharp(from).resize(width, height, { fit: 'fill' }));
    });
  }

  // Attention picks what is bright, colourful or skin: the middle of a tall photo of a person is the belt. A smaller crop
  // shows the same area.
  async #crop(side: number): Promise<Pixels> {
    const larger = crops.findLast((each) => each > side);
    if (larger !== undefined) return toPixels(toSharp(await this.get({ crop: larger })).resize(side, side));
    const from = await this.#smallestToFill(side);
    const square = { fit: 'cover', position: 'attention' } as const;
    return toPixels(toSharp(from).extract(cropArea(from.info)).resize(side, side, square));
  }

  async #smallestToFill(side: number): Promise<Pixels> {
    for (const longest of longestSides.toReversed()) {
      const { width, height } = fitWithin(this.#whole, { longest, shortest: longest });
      if (Math.min(width, height) >= side) return this.#shrinkTo(longest);
    }
    return this.#flat();
  }

  // This precedes any resizing: each resizing would round the colours of what is nearly transparent.
  #flat(): Promise<Pixels> {
    const { channels } = this.#decoded.info;
    if (channels % 2 === 1) return Promise.resolve(this.#decoded);
    return this.#once('flat', () => toPixels(toSharp(this.#decoded).flatten({ background: '#ffffff' })));
  }

  #once(name: string, make: () => Promise<Pixels>): Promise<Pixels> {
    const made = this.#made.get(name) ?? make();
    this.#made.set(name, made);
    return made;
  }
}

const maxAspect = 10;

/**
 * The part of a picture that a square crop searches: its middle, at most ten times as long as wide. sharp first enlarges
 * the shorter side to the crop's: one line of 60,000 pixels becomes 9 million for a side of 150.
 */
export function cropArea({ width, height }: Size): Area {
  const longest = maxAspect * Math.min(width, height);
  const middle = { width: Math.min(width, longest), height: Math.min(height, longest) };
  return { left: (width - middle.width) >> 1, top: (height - middle.height) >> 1, ...middle };
}

export function toSharp({ data, info }: Pixels) {
  return guardedSharp(data, { raw: info, limitInputPixels: false });
}

/** Runs a sharp pipeline. */
export async function toPixels(picture: ReturnType<typeof toSharp>): Promise<Pixels> {
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  // sharp's `premultiplied` is not used: it says how the pixels were resized, but they are divided by alpha again.
  return { data, info: { width: info.width, height: info.height, channels: info.channels } };
}

/** Sets the colours of transparent pixels to 0, in place: what a person has erased is often still there. */
export function clearTransparent({ data, info: { channels } }: Pixels): void {
  if (channels % 2 === 1) return;
  for (let alpha = channels - 1; alpha < data.length; alpha += channels)
    if (data[alpha] === 0) for (let colour = alpha - channels + 1; colour < alpha; colour += 1) data[colour] = 0;
}
